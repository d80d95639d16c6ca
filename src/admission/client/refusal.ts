import {
  AdmissionBudgetError,
  AdmissionBusyError,
  AdmissionStoreError,
  AdmissionTooLargeError,
} from '../admission.errors.js';
import type { Refusal, Scope } from '../admission.store.js';
import type { Claim } from './claim.js';

/** Where and when a claim was refused. */
export interface RefusalScene {
  readonly scope: Scope;
  readonly now: number;
  readonly isLocal: boolean;
}

/** A refusal of the store as the error that its caller gets. */
export function refusalOf(claim: Claim, { kind, rule, inMs, isExact, usage }: Refusal, scene: RefusalScene): Error {
  const facts = { kind: claim.request.kind, scope: scene.scope.name };
  if (rule.kind === 'budget') return new AdmissionBudgetError(facts, rule, inMs);
  if (kind === 'refused') {
    const queueMs = Math.max(0, Math.round(scene.now - claim.startedAt));
    const wait = { retryAfterMs: Math.ceil(inMs), isEstimate: !isExact, queueMs };
    return new AdmissionBusyError({ ...facts, rule, ...wait, usage });
  }
  // The share of one process is too small for it; the whole limit may not be.
  if (scene.isLocal) return new AdmissionStoreError("the call is more than this process's own share of the limit");
  return new AdmissionTooLargeError({ ...facts, usage }, rule, claim.request.tokens);
}

/** Its wait is over, and its turn has not come. */
export function latenessOf(claim: Claim, { scope, now }: RefusalScene): Error {
  const { obstacle, request } = claim;
  if (obstacle === undefined) return new AdmissionStoreError('no answer within the wait');
  const retryAfterMs = Math.max(1, Math.ceil(obstacle.inMs - (now - obstacle.toldAt)));
  const queueMs = Math.round(now - claim.startedAt);
  const { kind } = request;
  return new AdmissionBusyError({
    kind,
    scope: scope.name,
    rule: obstacle.rule,
    usage: obstacle.usage,
    retryAfterMs,
    isEstimate: true,
    queueMs,
  });
}
