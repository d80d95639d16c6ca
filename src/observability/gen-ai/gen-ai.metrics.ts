import { Histogram, type Registry } from 'prom-client';
import { DURATION, FIRST_CHUNK, TOKEN_USAGE } from './gen-ai.names.js';

/** The boundaries that the conventions ask for. */
const DURATION_BUCKETS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_CHUNK_BUCKETS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, power) => 4 ** power);

const LABELS = [
  'gen_ai_operation_name',
  'gen_ai_provider_name',
  'gen_ai_request_model',
  'server_address',
  'server_port',
] as const;
type Label = (typeof LABELS)[number];

/** Where a model is asked. All of it is of the configuration: callers can't make more of them. */
export interface GenAiPlace {
  /** One of the conventions' well-known providers, or the configuration's name of another. */
  readonly provider: string;
  /** The model's name there. */
  readonly model: string;
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** How one question at a model ended. */
export interface GenAiEnd {
  readonly durationMs: number;
  /** A code; undefined: it went well. */
  readonly error: string | undefined;
  /** The provider's own count; undefined: it gave none. */
  readonly tokens: { readonly input: number; readonly output: number } | undefined;
}

/** The client metrics of OpenTelemetry's conventions for generative AI: for Prometheus under its names, over OTLP under theirs. */
export class GenAiMetrics {
  readonly #duration: Histogram<Label | 'error_type'>;
  readonly #firstChunk: Histogram<Label>;
  readonly #tokens: Histogram<Label | 'gen_ai_token_type'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#duration = new Histogram({
      name: DURATION,
      help: 'How long a provider took for one attempt, streams to their end',
      labelNames: [...LABELS, 'error_type'],
      buckets: DURATION_BUCKETS,
      registers,
    });
    this.#firstChunk = new Histogram({
      name: FIRST_CHUNK,
      help: 'From sending an attempt to the first content of its stream',
      labelNames: LABELS,
      buckets: FIRST_CHUNK_BUCKETS,
      registers,
    });
    this.#tokens = new Histogram({
      name: TOKEN_USAGE,
      help: "Tokens of one attempt by the provider's own count",
      labelNames: [...LABELS, 'gen_ai_token_type'],
      buckets: TOKEN_BUCKETS,
      registers,
    });
  }

  /** An attempt's first content is there. */
  firstChunk(place: GenAiPlace, afterMs: number): void {
    this.#firstChunk.observe(labelsOf(place), afterMs / 1_000);
  }

  /** An attempt is over. @param end - its error is one of a bounded set */
  ended(place: GenAiPlace, { durationMs, error, tokens }: GenAiEnd): void {
    const labels = labelsOf(place);
    this.#duration.observe(
      error === undefined ? labels : Object.assign({}, labels, { error_type: error }),
      durationMs / 1_000,
    );
    if (tokens === undefined) return;
    this.#tokens.observe(Object.assign({}, labels, { gen_ai_token_type: 'input' }), tokens.input);
    this.#tokens.observe(Object.assign({}, labels, { gen_ai_token_type: 'output' }), tokens.output);
  }
}

function labelsOf({ provider, model, address, port }: GenAiPlace): Partial<Record<Label, string>> {
  return {
    gen_ai_operation_name: 'chat',
    gen_ai_provider_name: provider,
    gen_ai_request_model: model,
    ...(address !== undefined && { server_address: address }),
    ...(port !== undefined && { server_port: String(port) }),
  };
}
