import {
  AdmissionBusyError,
  type AdmissionService,
  AdmissionTooLargeError,
  type Reservation,
  type WindowUsage,
  type Wish,
} from '../../admission/index.js';
import type { Caller } from '../../auth/index.js';
import type { ModelSettings } from '../../config/index.js';
import { ApiError } from '../../http/index.js';
import type { Candidate } from '../route/route.plan.js';
import { AttemptQuota, type Taken } from './attempt.quota.js';
import { type CallEstimate, type CallSize, estimateOf } from './call.estimate.js';
import type { QuotaScope, QuotaScopes } from './quota.scopes.js';

/** A call, as far as quotas go. */
export interface QuotaCall extends Pick<CallSize, 'maxOutputTokens' | 'choices'> {
  readonly caller: Caller;
  /** Counts its prompt as a model would. */
  readonly promptTokens: (model: ModelSettings) => Promise<number>;
  /** What is left of its deadline, ms. */
  readonly remainingMs: () => number;
  readonly signal: AbortSignal;
}

/** How much longer than its deadline an attempt may take to be settled, ms. */
const SETTLING_MS = 5_000;
/** A provider that asks for a longer pause is asked again after this, ms. */
const LONGEST_HOLD_MS = 60_000;

/**
 * The reservations of one call: in its caller's limits once, and for each attempt in the caller's budget and in the limits of the
 * model and the deployment that are going to be billed. They move from attempt to attempt, and never stack.
 */
export class CallQuota {
  #caller: Reservation | undefined;
  #refused: readonly WindowUsage[] = [];
  /** Room for the first attempt, from the same moment as that in its caller's limits. */
  #early: { readonly candidate: Candidate; readonly quota: AttemptQuota } | undefined;

  constructor(
    private readonly call: QuotaCall,
    private readonly admission: AdmissionService,
    private readonly scopes: QuotaScopes,
  ) {}

  /** What is used of the caller's own windows; of the one that refused it alone. Empty where it has none, or had to wait for them. */
  get usage(): readonly WindowUsage[] {
    return this.#caller?.usage ?? this.#refused;
  }

  /** How long the caller's own limits were waited for, ms. */
  get queueMs(): number {
    return this.#caller?.queueMs ?? 0;
  }

  /**
   * Takes the call into its caller's own limits; waits for room up to the deadline.
   *
   * @param first - who is going to be asked first; undefined: nobody, it is answered with somebody else's answer
   * @param isNext - nothing stands against that: where there is room for the attempt as well, it is taken by the same round trip
   * @throws what AdmissionService.reserve() throws
   */
  async enter(first: Candidate | undefined, isNext = false): Promise<void> {
    const scope = this.scopes.ofCaller(this.call.caller);
    if (scope === undefined) return;
    const tokens = first === undefined ? 0 : (await this.estimate(first, [scope])).tokens;
    const own = this.wish(scope, { tokens, microUsd: 0 });
    this.#caller = isNext && first !== undefined ? await this.together(own, first) : undefined;
    this.#caller ??= await this.inOwnLimits(own);
    this.#caller.sent();
  }

  /**
   * Room for one attempt, within a wait.
   *
   * @throws ApiError for a deployment without a price under a hard budget, and what AdmissionService.reserve() throws
   */
  async attempt(candidate: Candidate, waitMs: number): Promise<AttemptQuota> {
    const early = this.takeEarly(candidate);
    if (early?.isInTime === true) return early;
    await early?.cancel();
    const { estimate, wishes } = await this.planned(candidate);
    const { remainingMs } = this.call;
    const endsAt = remainingMs() - waitMs;
    for (;;) {
      const quota = new AttemptQuota(estimate, await this.all(wishes, () => remainingMs() - endsAt));
      if (quota.isInTime) return quota;
      // The last one was waited for so long that the grant of an earlier one is too old.
      await quota.cancel();
    }
  }

  /** Whoever was to be asked first can't be: what was taken for that is given back. Never rejects. */
  forgo(): void {
    void this.#early?.quota.cancel();
    this.#early = undefined;
  }

  /** There are limits of ours on what all callers send there. */
  isLimited({ model, deployment }: Candidate): boolean {
    return this.scopes.ofModel(model) !== undefined || this.scopes.ofDeployment(deployment) !== undefined;
  }

  /**
   * Its provider asks for a pause: in all processes nobody is let in for so long, or for as long as is believed. Whoever waits keeps
   * his place.
   *
   * @param isOnly - the model has no other deployment, which could use the model's limits meanwhile
   */
  hold({ model, deployment }: Candidate, forMs: number, isOnly: boolean): void {
    const scopes = [isOnly ? this.scopes.ofModel(model) : undefined, this.scopes.ofDeployment(deployment)];
    for (const held of scopes) {
      if (held !== undefined) void this.admission.hold(held.scope, Math.min(forMs, LONGEST_HOLD_MS));
    }
  }

  /** The call is over. Never rejects. */
  async end(tokens: number | undefined): Promise<void> {
    this.forgo();
    await this.#caller?.settle(tokens === undefined ? undefined : { tokens });
  }

  /** Room in the caller's limits and for its first attempt, at this moment; undefined: not in all of them. */
  private async together(own: Wish, first: Candidate): Promise<Reservation | undefined> {
    if (this.isUnpriced(first)) return undefined;
    const { estimate, wishes } = await this.planned(first);
    const [caller, ...others] = (await this.admission.reserveAtOnce([own, ...wishes])) ?? [];
    if (caller !== undefined) this.#early = { candidate: first, quota: new AttemptQuota(estimate, others) };
    return caller;
  }

  private async inOwnLimits(own: Wish): Promise<Reservation> {
    try {
      return await this.admission.reserve({ waitMs: this.call.remainingMs(), ...own });
    } catch (error) {
      const isRefusal = error instanceof AdmissionBusyError || error instanceof AdmissionTooLargeError;
      if (isRefusal) this.#refused = refusingWindows(error);
      throw error;
    }
  }

  private takeEarly(candidate: Candidate): AttemptQuota | undefined {
    if (this.#early?.candidate !== candidate) this.forgo();
    const quota = this.#early?.quota;
    this.#early = undefined;
    return quota;
  }

  /** What an attempt needs, and of whom. @throws ApiError for a deployment without a price under a hard budget */
  private async planned(candidate: Candidate): Promise<{ estimate: CallEstimate; wishes: readonly Wish[] }> {
    if (this.isUnpriced(candidate)) throw unpriced(candidate);
    const shared = [this.scopes.ofModel(candidate.model), this.scopes.ofDeployment(candidate.deployment)];
    const scopes = [this.scopes.ofBudget(this.call.caller), ...shared].filter((scope) => scope !== undefined);
    const estimate = await this.estimate(candidate, scopes);
    const taken = { tokens: estimate.tokens, microUsd: estimate.microUsd ?? 0 };
    return { estimate, wishes: scopes.map((scope) => this.wish(scope, taken)) };
  }

  private isUnpriced({ deployment }: Candidate): boolean {
    return deployment.prices === undefined && this.call.caller.budget?.hard === true;
  }

  private async all(wishes: readonly Wish[], waitMs: () => number): Promise<readonly Reservation[]> {
    const atOnce = wishes.length > 1 ? await this.admission.reserveAtOnce(wishes) : undefined;
    if (atOnce !== undefined) return atOnce;
    const reservations: Reservation[] = [];
    try {
      for (const wish of wishes) {
        const now = { waitMs: Math.max(0, waitMs()), ...wish, holdMs: this.holdMs() };
        reservations.push(await this.admission.reserve(now));
      }
      return reservations;
    } catch (error) {
      await Promise.all(reservations.toReversed().map((reservation) => reservation.cancel()));
      throw error;
    }
  }

  private wish(scope: QuotaScope, { tokens, microUsd }: Taken): Wish {
    const { caller, signal } = this.call;
    return {
      flow: caller.id,
      weight: caller.weight,
      tokens: scope.countsTokens ? tokens : 0,
      microUsd: scope.kind === 'budget' ? microUsd : 0,
      holdMs: this.holdMs(),
      signal,
      ...scope,
    };
  }

  private holdMs(): number {
    return Math.max(1, this.call.remainingMs()) + SETTLING_MS;
  }

  private async estimate({ model, deployment }: Candidate, scopes: readonly QuotaScope[]): Promise<CallEstimate> {
    const isCounted = scopes.some(({ countsTokens }) => countsTokens);
    const promptTokens = isCounted ? await this.call.promptTokens(model) : undefined;
    const mostTokens = Math.min(...scopes.map((scope) => scope.mostTokens));
    return estimateOf({ ...this.call, promptTokens }, model, deployment.prices, mostTokens);
  }
}

/** The window whose rule stands against the call; all of them where it is no window's. */
function refusingWindows({ rule, usage }: AdmissionBusyError | AdmissionTooLargeError): readonly WindowUsage[] {
  if (rule?.kind !== 'requests' && rule?.kind !== 'tokens') return usage;
  return usage.filter(({ windowMs }) => windowMs === rule.windowMs);
}

function unpriced({ model, deployment }: Candidate): ApiError {
  const message = `${model.name} at ${deployment.provider} has no price, and this caller's budget is not to be exceeded`;
  return new ApiError('model_not_allowed', message, { param: 'model' });
}
