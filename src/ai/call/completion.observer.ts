import { Inject, Injectable } from '@nestjs/common';
import { Counter, Histogram, type Registry } from 'prom-client';
import { GenAiMetrics, type GenAiPlace, LOGGER, type Logger, METRICS_REGISTRY } from '../../observability/index.js';
import type { UpstreamFailure } from '../upstream/upstream-failure.js';
import type { Deployment } from '../catalogue/catalogue.js';
import type { Attempt } from './attempt.js';
import { placeOf } from './attempt.place.js';
import type { AttemptEnd } from './call.account.js';
import { errorTypeOf } from './call.trace.js';
import type { CompletionCall } from './completion-call.js';
import { InFlight } from './in-flight.js';

/** Counts completions, and tells of attempts that failed. All labels are names of the catalogue or error codes. */
@Injectable()
export class CompletionObserver {
  /** Attempts of this process that are under way. */
  readonly inFlight: InFlight;
  readonly #genAi: GenAiMetrics;
  readonly #places = new WeakMap<Deployment, GenAiPlace>();
  readonly #failedAttempts: Counter<'model' | 'provider' | 'code'>;
  readonly #completions: Counter<'model' | 'provider' | 'outcome'>;
  readonly #upstream: Histogram<'model' | 'provider' | 'stream'>;
  readonly #tokens: Counter<'model' | 'provider' | 'kind'>;
  readonly #cost: Counter<'model' | 'provider'>;

  constructor(
    @Inject(METRICS_REGISTRY) registry: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const registers = [registry];
    this.inFlight = new InFlight(registry);
    this.#genAi = new GenAiMetrics(registry);
    this.#failedAttempts = new Counter({
      name: 'coordinator_failed_attempts_total',
      help: 'Attempts at one deployment that failed, also where another one answered in the end',
      labelNames: ['model', 'provider', 'code'],
      registers,
    });
    this.#completions = new Counter({
      name: 'coordinator_completions_total',
      help: 'Completions that ended, by outcome: ok or an error code',
      labelNames: ['model', 'provider', 'outcome'],
      registers,
    });
    this.#upstream = new Histogram({
      name: 'coordinator_upstream_seconds',
      help: 'From sending the answering attempt to its last byte (stream="false") or its first content (stream="true")',
      labelNames: ['model', 'provider', 'stream'],
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160],
      registers,
    });
    this.#tokens = new Counter({
      name: 'coordinator_tokens_total',
      help: "Tokens by the providers' own count",
      labelNames: ['model', 'provider', 'kind'],
      registers,
    });
    this.#cost = new Counter({
      name: 'coordinator_cost_usd_total',
      help: 'USD by the prices of the deployments that answered',
      labelNames: ['model', 'provider'],
      registers,
    });
  }

  attemptFailed({ report, requestId, trace }: CompletionCall, failure: UpstreamFailure): void {
    const { code, reportedCode, mark, message, loggedAs = message, cause } = failure;
    const where = { model: report.model ?? 'none', provider: report.provider ?? 'none' };
    this.#failedAttempts.inc(labelled(where, { code }));
    const ids = { request_id: requestId, trace_id: trace?.traceId };
    const finer = reportedCode === code ? undefined : reportedCode;
    const told = { status: mark?.status, provider_code: finer, provider_request_id: mark?.requestId };
    this.logger.warn({ ...where, ...ids, code, ...told, failure: loggedAs, err: cause }, 'attempt failed');
    if (loggedAs !== message) this.logger.debug({ ...where, ...ids, words: message }, 'what the provider said');
  }

  /** The first content of an attempt's stream is there. */
  attemptShows(attempt: Attempt): void {
    const afterMs = attempt.elapsedMs();
    this.#genAi.firstChunk(this.#placeOf(attempt), afterMs);
    attempt.trace?.firstChunk(afterMs);
  }

  /** An attempt is over, in whatever way. */
  attemptEnded(attempt: Attempt, { usage, reasoningTokens, error }: AttemptEnd): void {
    const type = error === undefined ? undefined : errorTypeOf(error);
    this.#genAi.ended(this.#placeOf(attempt), {
      durationMs: attempt.elapsedMs(),
      error: type,
      tokens: usage && { input: usage.promptTokens, output: usage.completionTokens },
    });
    attempt.trace?.end({ usage, reasoningTokens, error: type });
  }

  record({ report, request }: CompletionCall, error?: unknown): void {
    const labels = { model: report.model ?? 'none', provider: report.provider ?? 'none' };
    this.#completions.inc(labelled(labels, { outcome: error === undefined ? 'ok' : errorTypeOf(error) }));
    if (report.upstreamMs !== undefined) {
      this.#upstream.observe(labelled(labels, { stream: String(request.stream === true) }), report.upstreamMs / 1_000);
    }
    if (report.promptTokens !== undefined) this.#tokens.inc(labelled(labels, { kind: 'prompt' }), report.promptTokens);
    if (report.completionTokens !== undefined)
      this.#tokens.inc(labelled(labels, { kind: 'completion' }), report.completionTokens);
    if (report.costUsd !== undefined) this.#cost.inc(labels, report.costUsd);
  }

  /** Read off a URL once. */
  #placeOf({ candidate: { deployment } }: Attempt): GenAiPlace {
    const place = this.#places.get(deployment) ?? placeOf(deployment);
    this.#places.set(deployment, place);
    return place;
  }
}

/** The labels in the order in which they are declared. */
function labelled<Labels extends object, More extends object>(labels: Labels, more: More): Labels & More {
  return Object.assign({}, labels, more);
}
