import type { ModelSettings } from '../../config/index.js';
import { ApiError } from '../../http/index.js';
import type { Deployment } from '../catalogue/catalogue.js';
import type { Obstacle, RouteReason } from './obstacle.js';

/** One deployment that may be tried for a request. */
export interface Candidate {
  readonly model: ModelSettings;
  readonly deployment: Deployment;
}

/** Who may answer a request, in the order in which they are tried, and what has kept others from it so far. */
export class RoutePlan {
  readonly #met: Obstacle[] = [];

  /**
   * @param asked - the first name that the caller gave
   * @param known - what keeps earlier choices out, whatever happens
   */
  constructor(
    private readonly asked: string,
    readonly candidates: readonly Candidate[],
    private readonly known: readonly Obstacle[],
  ) {}

  /** A candidate was passed over, or failed. */
  meet(obstacle: Obstacle): void {
    this.#met.push(obstacle);
  }

  /** Why this model is the one that answers: the first thing that stood in the way of what was asked for. */
  reasonFor(model: ModelSettings): RouteReason {
    if (model.name === this.asked) return 'requested';
    if (model.aliases.includes(this.asked)) return 'alias';
    return [...this.known, ...this.#met].find(({ detour }) => detour !== undefined)?.detour ?? 'requested';
  }

  /** Of the candidates that are left alone after failures, the one that may be tried again first. */
  soonestBack(): ApiError | undefined {
    const cooling = this.#met.flatMap(({ detour, error }) => (detour === 'cooldown' ? [error] : []));
    return cooling.toSorted((a, b) => (a.retryAfterMs ?? 0) - (b.retryAfterMs ?? 0))[0];
  }

  /**
   * What the caller is told where nobody could be tried: when one of them will be back, or else what stood in the way of the first
   * candidate, or of its first choice.
   */
  refusal(): ApiError {
    const [first] = [...this.#met, ...this.known];
    return (
      this.soonestBack() ?? first?.error ?? new ApiError('invalid_request', 'no model was named', { param: 'model' })
    );
  }
}
