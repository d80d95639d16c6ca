import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { CHAOS_KEYS, CHAOS_MODELS, type ChaosModel, deploymentId } from './chaos-fleet.js';
import { contentOf, dataOf } from './completion-rig.js';

/** How a call of a provider ended, by what was seen of it on the wire. */
export type WireEnd =
  /** A whole answer came. */
  | 'whole'
  /** The request was to blame. */
  | 'refused'
  /** Anything else, and also where this service waited no longer. */
  | 'failed'
  | 'open';

/** A call of a provider, as it left this service, and what came back. */
export interface WireCall {
  /** Of the request that it was made for. */
  readonly id: string;
  readonly provider: string;
  /** By its catalogue name. */
  readonly model: ChaosModel;
  /** Provider, model and key. */
  readonly deployment: string;
  readonly startedAt: number;
  endedAt: number;
  end: WireEnd;
  /** The provider says that it is at a limit, or how long to wait: it may be left alone at once. */
  asksToWait: boolean;
  /** What it said, of a whole answer. */
  text?: string;
  /** What it billed, of a whole answer; undefined: it did not say. */
  usage?: unknown;
}

interface SentRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

interface Reading {
  readonly call: WireCall;
  readonly isStream: boolean;
  readonly chunks: Buffer[];
  status: number;
}

/**
 * Listens to this process's calls of the providers where undici puts them on the wire: what was really sent, whatever this service says
 * of itself.
 */
export class WireTap {
  readonly calls: WireCall[] = [];
  readonly #readings = new Map<object, Reading>();
  readonly #listeners: readonly (readonly [string, (message: unknown) => void])[] = [
    ['undici:request:create', this.#created.bind(this)],
    ['undici:request:headers', this.#answered.bind(this)],
    ['undici:request:bodyChunkReceived', this.#received.bind(this)],
    ['undici:request:trailers', this.#completed.bind(this)],
    ['undici:request:error', this.#broken.bind(this)],
  ];

  /** @param providers - by their origins */
  constructor(private readonly providers: ReadonlyMap<string, string>) {
    for (const [channel, listener] of this.#listeners) subscribe(channel, listener);
  }

  stop(): void {
    for (const [channel, listener] of this.#listeners) unsubscribe(channel, listener);
  }

  #created(message: unknown): void {
    const { request } = message as { request: SentRequest };
    const { origin, path, headers, body } = request;
    const provider = this.providers.get(origin);
    if (provider === undefined || path !== '/v1/chat/completions') return;
    const sent = JSON.parse(String(body)) as { model: string; stream?: boolean };
    const model = modelNamed(sent.model);
    const now = performance.now();
    const call: WireCall = {
      id: headerOf(headers, 'x-request-id'),
      provider,
      model,
      deployment: deploymentId({ provider, model, key: keyNamed(headerOf(headers, 'authorization')) }),
      startedAt: now,
      endedAt: now,
      end: 'open',
      asksToWait: false,
    };
    this.calls.push(call);
    this.#readings.set(request, { call, isStream: sent.stream === true, chunks: [], status: 0 });
  }

  #answered(message: unknown): void {
    const { request, response } = message as { request: object; response: { statusCode: number; headers: Buffer[] } };
    const reading = this.#readings.get(request);
    if (reading === undefined) return;
    reading.status = response.statusCode;
    const names = response.headers.filter((_, index) => index % 2 === 0).map((name) => String(name).toLowerCase());
    reading.call.asksToWait = response.statusCode === 429 || names.some((name) => name.startsWith('retry-after'));
  }

  #received(message: unknown): void {
    const { request, chunk } = message as { request: object; chunk: Buffer };
    this.#readings.get(request)?.chunks.push(Buffer.from(chunk));
  }

  #completed(message: unknown): void {
    this.#ended((message as { request: object }).request, true);
  }

  /** By the provider, or by this service, which has heard enough of a stream at its `[DONE]`. */
  #broken(message: unknown): void {
    this.#ended((message as { request: object }).request, false);
  }

  #ended(request: object, isComplete: boolean): void {
    const reading = this.#readings.get(request);
    if (reading === undefined) return;
    this.#readings.delete(request);
    const { call, status, isStream } = reading;
    call.endedAt = performance.now();
    const answer = status === 200 && (isComplete || isStream) ? readAnswer(reading) : undefined;
    call.end = answer !== undefined ? 'whole' : status === 400 ? 'refused' : 'failed';
    Object.assign(call, answer);
  }
}

/** Undefined: it is not whole. */
function readAnswer({ chunks, isStream }: Reading): Pick<WireCall, 'text' | 'usage'> | undefined {
  const text = Buffer.concat(chunks).toString().replaceAll('\r\n', '\n');
  try {
    return isStream ? readStream(text) : readWhole(text);
  } catch (error) {
    // Cut short, or garbage.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readWhole(text: string): Pick<WireCall, 'text' | 'usage'> | undefined {
  const { choices, usage } = JSON.parse(text) as { choices?: { message: { content: string } }[]; usage?: unknown };
  const content = choices?.[0]?.message.content;
  return content === undefined ? undefined : { text: content, usage: usage ?? undefined };
}

/** All choices have ended: what would follow is the bill and `[DONE]`, which some servers leave out. */
function readStream(text: string): Pick<WireCall, 'text' | 'usage'> | undefined {
  const events = text.slice(0, text.lastIndexOf('\n\n') + 2);
  const data = dataOf(events);
  const choices = data.flatMap((each) => (each['choices'] as { finish_reason: string | null }[] | undefined) ?? []);
  const isEnded = choices.at(-1)?.finish_reason === 'stop' && !data.some((each) => 'error' in each);
  return isEnded ? { text: contentOf(events), usage: streamedUsage(events) } : undefined;
}

/** Of a stream's last word about it. */
export function streamedUsage(text: string): unknown {
  return dataOf(text).findLast(({ usage }) => typeof usage === 'object' && usage !== null)?.['usage'];
}

function headerOf(headers: readonly string[], name: string): string {
  return headers[headers.indexOf(name) + 1] ?? '';
}

/** @throws RangeError for what is none of ours */
function modelNamed(name: string): ChaosModel {
  const found = Object.keys(CHAOS_MODELS).find((model) => name.endsWith(`-${model}`));
  if (found === undefined) throw new RangeError(`nobody offers ${name}`);
  return found as ChaosModel;
}

function keyNamed(authorization: string): string {
  return CHAOS_KEYS.find((key) => authorization.endsWith(key)) ?? authorization;
}
