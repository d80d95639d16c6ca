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

  /** What the caller is told where nobody could be tried: what stood in the way of the first candidate, or of its first choice. */
  refusal(): ApiError {
    const [first] = [...this.#met, ...this.known];
    return first?.error ?? new ApiError('invalid_request', 'no model was named', { param: 'model' });
  }
}
