import { editObject } from '../wire/json-text.js';
import type { Candidate } from '../route/route.plan.js';
import type { AttemptRequest } from '../upstream/provider.adapter.js';
import { type AttemptLimits, AttemptTimers } from './attempt.timers.js';
import { OWN_MEMBERS } from './chat-request.js';
import type { CompletionCall } from './completion-call.js';

/** One attempt at one deployment: what it is sent, its clocks, and how long it has taken. */
export class Attempt {
  readonly candidate: Candidate;
  readonly timers: AttemptTimers;
  readonly request: AttemptRequest;
  readonly #startedAt = performance.now();

  constructor(
    readonly call: CompletionCall,
    { candidate }: { readonly candidate: Candidate },
    limits: AttemptLimits,
    heard: AttemptRequest['heard'],
  ) {
    this.candidate = candidate;
    this.timers = new AttemptTimers(limits, call.signal);
    this.request = { ...attemptRequest(call, candidate, this.timers), heard };
  }

  /** Since it began, ms. */
  elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }
}

function attemptRequest(
  call: CompletionCall,
  { model, deployment }: Candidate,
  { signal, progressed }: AttemptTimers,
): Omit<AttemptRequest, 'heard'> {
  return {
    deployment,
    ...forProvider(call),
    choices: call.request.n ?? 1,
    maxOutputTokens: model.maxOutputTokens,
    headers: call.forwardedHeaders,
    requestId: call.requestId,
    connectMs: model.timeouts.connectMs,
    signal,
    progressed,
  };
}

/** The body less this service's own members. */
function forProvider({ request, bodyText, body }: CompletionCall): Pick<AttemptRequest, 'bodyText' | 'body'> {
  const present = OWN_MEMBERS.filter((name) => request[name] !== undefined);
  if (present.length === 0) return { bodyText, body };
  const own = new Set<string>(present);
  return {
    bodyText: editObject(bodyText, Object.fromEntries(present.map((name) => [name, undefined]))),
    body: Object.fromEntries(Object.entries(body).filter(([name]) => !own.has(name))),
  };
}
