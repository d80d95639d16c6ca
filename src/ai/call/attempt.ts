import { editObject } from '../wire/json-text.js';
import type { JsonObject } from '../wire/json-value.js';
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
    bodyText: textForProvider(call),
    body: bodyForProvider(call),
    choices: call.request.n ?? 1,
    maxOutputTokens: model.maxOutputTokens,
    headers: call.forwardedHeaders,
    requestId: call.requestId,
    connectMs: model.timeouts.connectMs,
    signal,
    progressed,
  };
}

/** The parsed body less this service's own members. */
export function bodyForProvider({ request, body }: CompletionCall): JsonObject {
  const own = new Set<string>(ownMembersIn(request));
  return own.size === 0 ? body : Object.fromEntries(Object.entries(body).filter(([name]) => !own.has(name)));
}

function textForProvider({ request, bodyText }: CompletionCall): string {
  const own = ownMembersIn(request);
  return own.length === 0 ? bodyText : editObject(bodyText, Object.fromEntries(own.map((name) => [name, undefined])));
}

function ownMembersIn(request: CompletionCall['request']): readonly string[] {
  return OWN_MEMBERS.filter((name) => request[name] !== undefined);
}
