import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { decode, METRICS, TRACES } from './otlp-protobuf.js';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2: error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly startNano: bigint;
  readonly endNano: bigint;
}

export interface CollectedPoint {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly value?: number;
  readonly count?: number;
  readonly sum?: number;
  readonly bounds?: readonly number[];
  readonly counts?: readonly number[];
}

export interface CollectedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'gauge' | 'sum' | 'histogram';
  readonly points: readonly CollectedPoint[];
}

export interface Delivered {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Undefined: it could not be read. */
  readonly body: Json;
}

type Json = Readonly<Record<string, unknown>>;
/** How a collector answers: takes it, refuses it with this status, or never says anything. */
export type CollectorMood = 'well' | 'silent' | number;

/** An OTLP/HTTP collector on a free loopback port, that reads protobuf and JSON. */
export class OtlpCollector {
  readonly delivered: Delivered[] = [];
  mood: CollectorMood = 'well';
  /** Of a refusal. */
  words = '';
  readonly #server = createServer((request, response) => void this.#take(request, response));

  static async start(): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    collector.#server.listen(0, '127.0.0.1');
    await once(collector.#server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  /** All spans that were taken, in the order of their beginnings. */
  get spans(): readonly CollectedSpan[] {
    return this.#bodies('/v1/traces')
      .flatMap(({ resourceSpans }) => objects(resourceSpans))
      .flatMap(({ resource, scopeSpans }) =>
        objects(scopeSpans).flatMap(({ spans }) => objects(spans).map((span) => spanOf(span, asObject(resource)))),
      )
      .sort((one, other) => Number(one.startNano - other.startNano));
  }

  /** What was sent last of each metric. */
  get metrics(): ReadonlyMap<string, CollectedMetric> {
    const all = this.#bodies('/v1/metrics')
      .flatMap(({ resourceMetrics }) => objects(resourceMetrics))
      .flatMap(({ scopeMetrics }) => objects(scopeMetrics))
      .flatMap(({ metrics }) => objects(metrics))
      .map(metricOf);
    return new Map(all.map((metric) => [metric.name, metric]));
  }

  /** Everything that came, as text: for what must not be in it. */
  get text(): string {
    return JSON.stringify(this.delivered.map(({ body }) => body));
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #bodies(path: string): Json[] {
    return this.delivered.filter((each) => each.path === path).map(({ body }) => body);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (this.mood === 'silent') return;
    if (typeof this.mood === 'number') {
      response.writeHead(this.mood).end(this.words);
      return;
    }
    const { url: path = '', headers } = request;
    this.delivered.push({ path, headers, body: bodyOf(path, headers, Buffer.concat(pieces)) });
    response.writeHead(200, { 'content-type': headers['content-type'] }).end();
  }
}

function bodyOf(path: string, headers: IncomingHttpHeaders, sent: Buffer): Json {
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
  if (headers['content-type'] === 'application/json') return JSON.parse(bytes.toString('utf8')) as Json;
  return decode(bytes, path.endsWith('metrics') ? METRICS : TRACES);
}

function spanOf(span: Json, resource: Json): CollectedSpan {
  return {
    traceId: String(span['traceId']),
    spanId: String(span['spanId']),
    parentSpanId: textOf(span['parentSpanId']),
    name: String(span['name']),
    kind: Number(span['kind']),
    attributes: attributesOf(span),
    events: objects(span['events']).map((event) => ({ name: String(event['name']), attributes: attributesOf(event) })),
    links: objects(span['links']).map(({ traceId, spanId }) => ({ traceId: String(traceId), spanId: String(spanId) })),
    status: Number(asObject(span['status'])['code'] ?? 0),
    resource: attributesOf(resource),
    startNano: BigInt(String(span['startTimeUnixNano'])),
    endNano: BigInt(String(span['endTimeUnixNano'])),
  };
}

function metricOf(metric: Json): CollectedMetric {
  const kind = (['gauge', 'sum', 'histogram'] as const).find((each) => metric[each] !== undefined) ?? 'gauge';
  return {
    name: String(metric['name']),
    unit: textOf(metric['unit']),
    kind,
    points: objects(asObject(metric[kind])['dataPoints']).map((point) => ({
      attributes: attributesOf(point),
      ...(point['asDouble'] !== undefined && { value: Number(point['asDouble']) }),
      ...(kind === 'histogram' && {
        count: Number(point['count'] ?? 0),
        sum: Number(point['sum'] ?? 0),
        bounds: numbers(point['explicitBounds']),
        counts: numbers(point['bucketCounts']),
      }),
    })),
  };
}

function attributesOf({ attributes }: Json): Record<string, unknown> {
  return Object.fromEntries(objects(attributes).map(({ key, value }) => [String(key), plain(asObject(value))]));
}

function plain(value: Json): unknown {
  if (value['arrayValue'] !== undefined) return objects(asObject(value['arrayValue'])['values']).map(plain);
  if (value['intValue'] !== undefined) return Number(value['intValue']);
  return value['stringValue'] ?? value['doubleValue'] ?? value['boolValue'];
}

function objects(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
