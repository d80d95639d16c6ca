import { ClientGoneError, toApiError } from '../../http/index.js';
import type { SpanAttributes, TraceIds, TraceSpan } from '../../observability/index.js';
import type { Obstacle } from '../route/obstacle.js';
import type { Candidate } from '../route/route.plan.js';
import { placeOf } from './attempt.place.js';
import { AttemptTrace } from './attempt.trace.js';
import type { CacheOutcome, CallReport } from './call.report.js';
import { type ChatRequest, maxOutputTokensOf } from './chat-request.js';

/** A shorter wait is none, ms. */
const LEAST_WAIT_MS = 1;

/** One call in the trace of its request: what it waited for, whom it met, and its attempts. */
export class CallTrace implements TraceIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly #span: TraceSpan;
  /** Where the last attempt went. */
  #last: string | undefined;

  /** @param above - the request's step, the turn's or the batch's */
  constructor(
    above: TraceSpan,
    private readonly request: ChatRequest,
    requestId: string,
  ) {
    this.#span = above.child('completion', {
      attributes: { 'coordinator.request.id': requestId, 'coordinator.stream': request.stream === true },
    });
    this.traceId = this.#span.traceId;
    this.spanId = this.#span.spanId;
  }

  /** Room was waited for until now. @param attributes - whose, and how it ended */
  waited(ms: number, attributes: SpanAttributes): void {
    if (ms >= LEAST_WAIT_MS) this.#span.child('admission wait', { beganMsAgo: ms, attributes }).end();
  }

  /** A candidate was not called. */
  passedOver({ model, deployment }: Candidate, { detour, error }: Obstacle): void {
    this.#span.event('passed over', {
      'coordinator.model': model.name,
      'coordinator.deployment': deployment.id,
      'coordinator.route': detour,
      'error.type': error.code,
    });
  }

  /** What it met at the cache. @param of - the call whose answer it is given, where that is known */
  met(outcome: CacheOutcome, of?: TraceIds): void {
    this.#span.event(`cache ${outcome}`);
    if (of !== undefined) this.#span.link(of);
  }

  /** An attempt begins now; from the second on it is told why. */
  attempt({ model, deployment }: Candidate, number: number): AttemptTrace {
    if (this.#last !== undefined) {
      const name = this.#last === deployment.id ? 'retry' : 'fallback';
      this.#span.event(name, { 'coordinator.attempt': number, 'coordinator.deployment': deployment.id });
    }
    this.#last = deployment.id;
    const { provider, model: asked, address, port } = placeOf(deployment);
    const span = this.#span.child(`chat ${asked}`, {
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': provider,
        'gen_ai.request.model': asked,
        ...askedFor(this.request),
        'server.address': address,
        'server.port': port,
        'coordinator.model': model.name,
        'coordinator.deployment': deployment.id,
        'coordinator.attempt': number,
      },
    });
    return new AttemptTrace(span);
  }

  end({ model, provider, route, cache, attempts, queueMs, costUsd }: CallReport, error: unknown): void {
    this.#span.set({
      'coordinator.model': model,
      'coordinator.provider': provider,
      'coordinator.route': route,
      'coordinator.cache': cache,
      'coordinator.attempts': attempts,
      'coordinator.queue_ms': queueMs === undefined ? undefined : Math.round(queueMs),
      'coordinator.cost_usd': costUsd,
    });
    this.#span.end(error === undefined ? undefined : errorTypeOf(error));
  }
}

/** What went wrong, by its code: its words are a provider's, or quote the caller. */
export function errorTypeOf(error: unknown): string {
  return error instanceof ClientGoneError ? 'client_gone' : toApiError(error).code;
}

function askedFor(request: ChatRequest): SpanAttributes {
  const limit = maxOutputTokensOf(request);
  const choices = request.n ?? 1;
  return {
    'gen_ai.request.max_tokens': limit === 0 ? undefined : limit,
    'gen_ai.request.choice.count': choices === 1 ? undefined : choices,
    'gen_ai.request.stream': request.stream === true ? true : undefined,
  };
}
