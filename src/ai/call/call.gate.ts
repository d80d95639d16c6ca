import {
  AdmissionBudgetError,
  AdmissionBusyError,
  AdmissionOverloadedError,
  AdmissionStoreError,
  AdmissionTooLargeError,
} from '../../admission/index.js';
import { ApiError, toApiError } from '../../http/index.js';
import type { AttemptQuota } from '../quota/attempt.quota.js';
import type { CallQuota } from '../quota/call.quota.js';
import type { Detour, Obstacle } from '../route/obstacle.js';
import type { Candidate } from '../route/route.plan.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import type { Gate } from './attempt.ports.js';
import type { UpstreamGate } from './upstream.gate.js';

/** Lets one call's attempts pass: by what the fleet knows of the deployment, and by the room in every limit and budget. */
export class CallGate implements Gate {
  #taken: AttemptQuota | undefined;
  #queueMs = 0;

  constructor(
    private readonly upstream: UpstreamGate,
    private readonly quota: CallQuota,
  ) {}

  /** How long room was waited for at deployments, ms. */
  get queueMs(): number {
    return this.#queueMs;
  }

  obstacleAt(candidate: Candidate): Obstacle | undefined {
    return this.upstream.obstacleAt(candidate);
  }

  async enter(candidate: Candidate, waitMs: number): Promise<Obstacle | undefined> {
    const known = this.upstream.obstacleAt(candidate);
    if (known !== undefined) {
      this.quota.forgo();
      return known;
    }
    const startedAt = performance.now();
    for (;;) {
      const quota = await this.reserve(candidate, waitMs - (performance.now() - startedAt));
      if (!('estimate' in quota)) return quota;
      this.#queueMs += quota.queueMs;
      const obstacle = await this.upstream.enter(candidate);
      if (obstacle !== undefined) {
        await quota.cancel();
        return obstacle;
      }
      if (quota.isInTime) {
        this.#taken = quota;
        return undefined;
      }
      // Asking who may probe has taken too long.
      this.upstream.forgo(candidate);
      await quota.cancel();
    }
  }

  isLimited(candidate: Candidate): boolean {
    return this.quota.isLimited(candidate);
  }

  forgo(candidate: Candidate): void {
    void this.take().cancel();
    this.upstream.forgo(candidate);
  }

  /**
   * An attempt failed. Where its provider is at a rate limit and asks for a pause, nobody who waits for room is let in before it is
   * over: they would all meet the cooldown one after the other.
   *
   * @param isOnly - its model has no other deployment
   */
  failed(candidate: Candidate, error: unknown, isOnly: boolean): void {
    if (!(error instanceof UpstreamFailure) || error.blame !== 'upstream') return;
    const { code, retryAfterMs } = error;
    if (code === 'rate_limit_exceeded' && retryAfterMs !== undefined) this.quota.hold(candidate, retryAfterMs, isOnly);
  }

  /** What was reserved for the attempt that begins now; it is its owner's to end. */
  take(): AttemptQuota {
    const taken = this.#taken;
    if (taken === undefined) throw new Error('an attempt begins where nobody was let in');
    this.#taken = undefined;
    return taken;
  }

  private async reserve(candidate: Candidate, waitMs: number): Promise<AttemptQuota | Obstacle> {
    try {
      return await this.quota.attempt(candidate, Math.max(0, waitMs));
    } catch (error) {
      const detour = detourOf(error);
      if (detour === undefined) throw error;
      return { detour, error: toApiError(error) };
    }
  }
}

/** Undefined: it says nothing of the deployment. */
function detourOf(error: unknown): Detour | undefined {
  if (error instanceof AdmissionBudgetError || error instanceof ApiError) return 'quota';
  if (error instanceof AdmissionStoreError) return 'error';
  const isBusy =
    error instanceof AdmissionBusyError ||
    error instanceof AdmissionOverloadedError ||
    error instanceof AdmissionTooLargeError;
  return isBusy ? 'busy' : undefined;
}
