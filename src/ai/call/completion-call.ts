import type { Caller } from '../../auth/index.js';
import type { TraceSpan } from '../../observability/index.js';
import type { CallReport } from './call.report.js';
import type { CallTrace } from './call.trace.js';
import type { ChatRequest } from './chat-request.js';
import type { JsonObject } from '../wire/json-value.js';

export type { CacheOutcome, CallReport } from './call.report.js';

/** One validated completion request of one caller. */
export interface CompletionCall {
  readonly request: ChatRequest;
  /** The body as it arrived. */
  readonly bodyText: string;
  /** The same, parsed. */
  readonly body: JsonObject;
  readonly caller: Caller;
  readonly requestId: string;
  /** The caller's headers that go on to the provider. */
  readonly forwardedHeaders: Readonly<Record<string, string>>;
  /** The step of a trace that it is part of; undefined: nothing is traced. */
  readonly span?: TraceSpan | undefined;
  /** Its own step; undefined as above. */
  readonly trace?: CallTrace | undefined;
  /** SHA-256 of the Idempotency-Key of its request, hex; undefined: it came without one. */
  readonly idempotencyKeyHash?: string;
  /** No substitute model. */
  readonly isStrict: boolean;
  /** The longest it may take from `startedAt`, ms. */
  readonly deadlineMs: number;
  /** `performance.now()` at its arrival. */
  readonly startedAt: number;
  /** Aborted when the caller leaves or the service may wait no longer for it. */
  readonly signal: AbortSignal;
  /** Filled in as the call goes on, also where it fails. */
  readonly report: CallReport;
  /** Called once when a stream is over, with the error if it could not be completed. */
  readonly ended: (error?: unknown) => void;
}
