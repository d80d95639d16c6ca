import { editObject } from '../wire/json-text.js';
import type { JsonObject } from '../wire/json-value.js';
import type { Candidate } from '../route/route.plan.js';
import type { AttemptRequest } from '../upstream/provider.adapter.js';
import { LateSendError } from '../upstream/sending.js';
import { type AttemptLimits, AttemptTimers } from './attempt.timers.js';
import type { AttemptTrace } from './attempt.trace.js';
import type { AttemptQuota } from '../quota/attempt.quota.js';
import { maxOutputTokensOf, OWN_MEMBERS } from './chat-request.js';
import type { CompletionCall } from './completion-call.js';

/** Where an attempt goes, and what it may take there. */
export interface AttemptPlace {
  readonly candidate: Candidate;
  readonly quota: AttemptQuota;
}

/** One attempt at one deployment: what it is sent, its clocks, and how long it has taken. */
export class Attempt {
  readonly candidate: Candidate;
  /** Room that was made for it; to be settled when it is over. */
  readonly quota: AttemptQuota;
  readonly timers: AttemptTimers;
  readonly request: AttemptRequest;
  /** Undefined: nothing is traced. */
  readonly trace: AttemptTrace | undefined;
  readonly #startedAt = performance.now();

  constructor(
    readonly call: CompletionCall,
    { candidate, quota }: AttemptPlace,
    limits: AttemptLimits,
    heard: AttemptRequest['heard'],
  ) {
    this.candidate = candidate;
    this.quota = quota;
    this.timers = new AttemptTimers(limits, call.signal);
    this.trace = call.trace?.attempt(candidate, call.report.attempts);
    this.request = { heard, ...attemptRequest(call, { candidate, quota }, this) };
  }

  /** Since it began, ms. */
  elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}

function attemptRequest(
  call: CompletionCall,
  { candidate: { model, deployment }, quota }: AttemptPlace,
  { timers: { signal, progressed }, trace }: Pick<Attempt, 'timers' | 'trace'>,
): Omit<AttemptRequest, 'heard'> {
  return {
    deployment,
    ...bodiesForProvider(call, quota.estimate.outputTokens),
    choices: call.request.n ?? 1,
    maxOutputTokens: model.maxOutputTokens,
    headers: trace === undefined ? call.forwardedHeaders : trace.headers(call.forwardedHeaders),
    requestId: call.requestId,
    connectMs: model.timeouts.connectMs,
    signal,
    progressed,
    sending: quota.isLimited ? sendingWith(quota) : undefined,
  };
}

function sendingWith(quota: AttemptQuota): () => void {
  return () => {
    if (!quota.isInTime) throw new LateSendError();
    quota.sent();
  };
}

/** The parsed body less this service's own members. */
export function bodyForProvider({ request, body }: CompletionCall): JsonObject {
  const own = new Set<string>(ownMembersIn(request));
  return own.size === 0 ? body : Object.fromEntries(Object.entries(body).filter(([name]) => !own.has(name)));
}

/**
 * What the provider is sent. Under a hard budget every answer has a limit: the one that was reserved for.
 *
 * @param outputTokens - what was reserved for one answer
 */
function bodiesForProvider(call: CompletionCall, outputTokens: number): Pick<AttemptRequest, 'body' | 'bodyText'> {
  const { request, bodyText, caller } = call;
  const body = bodyForProvider(call);
  const isOpen = caller.budget?.hard === true && maxOutputTokensOf(request) === 0;
  const own = Object.fromEntries(ownMembersIn(request).map((name) => [name, undefined]));
  const edits = isOpen ? { ...own, max_tokens: String(outputTokens) } : own;
  return {
    body: isOpen ? { ...body, max_tokens: outputTokens } : body,
    bodyText: Object.keys(edits).length === 0 ? bodyText : editObject(bodyText, edits),
  };
}

function ownMembersIn(request: CompletionCall['request']): readonly string[] {
  return OWN_MEMBERS.filter((name) => request[name] !== undefined);
}
