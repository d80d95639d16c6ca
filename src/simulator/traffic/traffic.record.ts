import type { IncomingHttpHeaders } from 'node:http';
import type { QuotaVisit } from '../quota/quota.desk.js';
import type { UsageCounts } from '../reply/completion.js';
import type { ReplyMeter } from '../reply/reply.meter.js';
import type { Exchange } from '../wire/exchange.js';
import { maskSecret } from './secret.mask.js';
import { parseJson } from '../request/request.body.js';
import type { Endpoint } from '../script/script.js';

/** Longer bodies are kept by their beginning only. */
const MAX_BODY_CHARS = 65_536;
const SECRET_HEADERS = new Set(['authorization', 'api-key', 'x-api-key', 'x-goog-api-key', 'cookie']);

/** One request as it reached the wire, and what became of it. */
export class TrafficRecord {
  readonly at = Date.now();
  model = 'unknown';
  rawBody = '';
  bodyBytes = 0;
  outcome: 'open' | 'answered' | 'cut' | 'aborted' = 'open';
  endedAt: number | undefined;
  /** What the whole reply costs, as soon as it is known. */
  usage: UsageCounts | undefined;
  /** Counts what is said of the reply while it streams. */
  meter: ReplyMeter | undefined;
  /** Its place in the quota of its model and key. */
  visit: QuotaVisit | undefined;
  readonly path: string;
  private readonly method: string;
  private readonly headers: IncomingHttpHeaders;

  constructor(
    readonly id: string,
    readonly endpoint: Endpoint | 'other',
    private readonly exchange: Exchange,
  ) {
    const { url = '', method = '', headers } = exchange.request;
    this.path = url;
    this.method = method;
    this.headers = maskSecrets(headers);
  }

  get status(): number | undefined {
    return this.exchange.status;
  }

  /** The request has ended. */
  end(): void {
    this.endedAt = Date.now();
    this.outcome = this.exchange.outcome;
    const { outcome, usage, meter, visit } = this;
    visit?.leave(outcome, outcome === 'answered' ? Promise.resolve(usage) : Promise.resolve(meter?.bill()));
    // The latest records outlive their requests; what has been said need not.
    this.meter = undefined;
    this.visit = undefined;
  }

  keepBody(raw: string): void {
    this.bodyBytes = Buffer.byteLength(raw);
    // A copy: a substring would keep the whole body alive.
    this.rawBody = raw.length > MAX_BODY_CHARS ? Buffer.from(raw.slice(0, MAX_BODY_CHARS)).toString() : raw;
  }

  /** For GET /stats. `body` is undefined when it is no JSON or was too long to keep. */
  toJson(): object {
    const { id, at, path, method, headers, model, status, outcome, rawBody, bodyBytes, usage, endedAt } = this;
    const durationMs = endedAt === undefined ? undefined : endedAt - at;
    return {
      id,
      at,
      method,
      path,
      model,
      status,
      outcome,
      durationMs,
      headers,
      bodyBytes,
      rawBody,
      body: parsed(rawBody),
      usage,
    };
  }
}

function maskSecrets(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      return [name, SECRET_HEADERS.has(name) ? maskSecret(String(value)) : value];
    }),
  );
}

function parsed(rawBody: string): unknown {
  try {
    return parseJson(rawBody);
  } catch {
    // Not JSON; rawBody shows what it is.
    return undefined;
  }
}
