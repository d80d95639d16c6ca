import { AdmissionBudgetError } from '../../admission/index.js';
import type { ModelSettings } from '../../config/index.js';
import { ApiError } from '../../http/index.js';
import type { Deployment } from '../catalogue/catalogue.js';
import type { UpstreamFailure } from '../upstream/upstream-failure.js';
import type { MetObstacle, Obstacle, RouteReason } from './obstacle.js';

/** One deployment that may be tried for a request. */
export interface Candidate {
  readonly model: ModelSettings;
  readonly deployment: Deployment;
}

/** What a caller asked for first. */
export interface AskedModel {
  /** As the caller called it: a name or an alias. */
  readonly name: string;
  /** Its name; of one that does not exist what the caller called it. */
  readonly model: string;
  /** Ids of its deployments that were to be called, the first one first. */
  readonly order: readonly string[];
}

/** Who may answer a request, in the order in which they are tried, and what has kept others from it so far. */
export class RoutePlan {
  readonly #met: MetObstacle[] = [];

  /** @param known - what keeps earlier choices out, or puts them last, whatever happens */
  constructor(
    private readonly asked: AskedModel,
    readonly candidates: readonly Candidate[],
    private readonly known: readonly MetObstacle[],
  ) {}

  /** No other candidate serves its model. */
  isOnly({ model }: Candidate): boolean {
    return this.candidates.filter((each) => each.model === model).length <= 1;
  }

  /** A candidate was passed over, or failed. */
  meet({ model, deployment }: Candidate, obstacle: Obstacle): void {
    this.#met.push({ ...obstacle, model: model.name, deployment: deployment.id });
  }

  /**
   * Why this model is the one that answers: what stood in the way of the model that was asked for, by the order in which its
   * deployments were to be called.
   */
  reasonFor(model: ModelSettings): RouteReason {
    const { name, model: asked, order } = this.asked;
    if (model.name === name) return 'requested';
    if (model.aliases.includes(name)) return 'alias';
    const place = ({ deployment }: MetObstacle): number => (deployment === undefined ? -1 : order.indexOf(deployment));
    const [first] = [...this.known, ...this.#met]
      .filter((each) => each.model === asked && each.detour !== undefined)
      .toSorted((one, other) => place(one) - place(other));
    return first?.detour ?? 'requested';
  }

  /** Of the candidates that are left alone after failures, or have no room, the one that may be tried again first. */
  soonestBack(): ApiError | undefined {
    const away = this.#met.flatMap(({ detour, error }) => (detour === 'cooldown' || detour === 'busy' ? [error] : []));
    return away.toSorted((a, b) => (a.retryAfterMs ?? 0) - (b.retryAfterMs ?? 0))[0];
  }

  /** Where others failed, and one was not called because the caller's budget has too little left: that, the caller can do something about. */
  budgetRefusal({ blame }: UpstreamFailure): ApiError | undefined {
    if (blame === 'request' || blame === 'key') return undefined;
    return this.#met.find(({ error }) => error.cause instanceof AdmissionBudgetError)?.error;
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
