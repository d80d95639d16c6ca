import { type Agent, fetch as undiciFetch, type Headers } from 'undici';
import { SeededRandom } from '../simulation/seeded.random.js';
import { markOf, OTHER_TEXT, WAYS, WRONG } from './chaos-faults.js';
import { callerKey, CHAOS_MODELS, CHAOS_TIER_NAMES, type ChaosQuestion } from './chaos-fleet.js';
import type { StallClock } from './stall-clock.js';
import { EXACT_TEXT } from './wire-samples.js';

/** One request, as its number and the seed make it. */
export interface ChaosRequest extends ChaosQuestion {
  /** Its request id, with its tier in front. */
  readonly id: string;
  readonly isStream: boolean;
  readonly isWrong: boolean;
  /** Too long for the smallest model. */
  readonly isOversized: boolean;
  readonly timeoutMs: number | undefined;
  readonly leaveAfterMs: number | undefined;
  /** The way in `WAYS` that it is marked for. */
  readonly way: number | undefined;
  /** What is to be said back. */
  readonly text: string;
  /** What the answer may be. */
  readonly expected: readonly string[];
}

/** How a request ended, as its client saw it. Times by `performance.now()`. */
export interface ChaosEnd {
  readonly request: ChaosRequest;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Less the time in which this process stood still, ms. */
  readonly tookMs: number;
  /** The client left before it had an answer. */
  readonly hasLeft: boolean;
  /** 0: there was none. */
  readonly status: number;
  readonly header: (name: string) => string | undefined;
  /** The body, or what went wrong on the way to it. */
  readonly text: string;
}

const MODELS = ['basic', 'medium', 'large', 'tiny'] as const;

/** Every so many of the first ones is marked for a way. */
const MARKED_EVERY = 4;

/** Some of the first ones are marked, each for one way, and plain otherwise, so that every way is met. */
export function chaosRequest(seed: number, index: number): ChaosRequest {
  const random = new SeededRandom(seed * 100_003 + index);
  const tier = random.pick(CHAOS_TIER_NAMES);
  const model = random.pick(MODELS);
  const isList = random.chance(0.15);
  const text = `No. ${String(index)}: ${EXACT_TEXT}`;
  const request: ChaosRequest = {
    id: `${tier}-${String(seed)}-${String(index)}`,
    tier,
    models: isList ? [model, random.pick(['basic', 'medium', 'large'] as const)] : [model],
    isStrict: random.chance(0.15),
    isStream: random.chance(0.5),
    isWrong: random.chance(0.03),
    isOversized: random.chance(0.1),
    timeoutMs: random.chance(0.25) ? 200 + random.below(3_000) : undefined,
    leaveAfterMs: random.chance(0.08) ? 5 + random.below(400) : undefined,
    way: undefined,
    text,
    expected: [text],
  };
  const way = index / MARKED_EVERY;
  return Number.isInteger(way) && way < WAYS.length ? markedFor(way, request) : request;
}

/** One more for that way. */
export function markedRequest(seed: number, way: number, round: number): ChaosRequest {
  const { id, ...request } = chaosRequest(seed, way * MARKED_EVERY);
  return { ...request, id: `${id}-${String(round)}` };
}

/** Who may meet the way that a request is marked for: those that are asked for it first. */
export function markedProviders({ models: [model] }: ChaosRequest): readonly string[] {
  return CHAOS_MODELS[model].providers;
}

function markedFor(way: number, request: ChaosRequest): ChaosRequest {
  const { ofStreams, isMarkedOnly } = WAYS[way] ?? {};
  return {
    ...request,
    id: `enterprise${request.id.slice(request.id.indexOf('-'))}`,
    tier: 'enterprise',
    models: [MODELS[way % MODELS.length] ?? 'basic'],
    isStrict: false,
    isStream: ofStreams ?? request.isStream,
    isWrong: false,
    isOversized: false,
    timeoutMs: undefined,
    leaveAfterMs: undefined,
    way,
    expected: isMarkedOnly ? [request.text, OTHER_TEXT] : request.expected,
  };
}

/** Sends it, and waits for its end. */
export async function sendChaos(
  request: ChaosRequest,
  { url, dispatcher, stalls }: { readonly url: string; readonly dispatcher: Agent; readonly stalls: StallClock },
): Promise<ChaosEnd> {
  const leaving = new AbortController();
  const timer = setTimeout(() => {
    leaving.abort();
  }, request.leaveAfterMs ?? NEVER_MS);
  const startedAt = performance.now();
  const stalledMs = stalls.stalledMs;
  const ended = (hasLeft: boolean, status: number, text: string, headers?: Headers): ChaosEnd => {
    const endedAt = performance.now();
    const tookMs = endedAt - startedAt - (stalls.stalledMs - stalledMs);
    return {
      request,
      startedAt,
      endedAt,
      tookMs,
      hasLeft,
      status,
      text,
      header: (name) => headers?.get(name) ?? undefined,
    };
  };
  try {
    const response = await undiciFetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: headersOf(request),
      body: JSON.stringify(bodyOf(request)),
      signal: leaving.signal,
      dispatcher,
    });
    const text = await response.text();
    return ended(false, response.status, text, response.headers);
  } catch (error) {
    return ended(leaving.signal.aborted, 0, String(error));
  } finally {
    clearTimeout(timer);
  }
}

/** Longer than any request may take. */
const NEVER_MS = 60_000;

function headersOf({ id, tier, isStrict, timeoutMs }: ChaosRequest): Record<string, string> {
  return {
    'content-type': 'application/json',
    authorization: `Bearer ${callerKey(tier)}`,
    'x-request-id': id,
    ...(isStrict && { 'x-coordinator-strict': 'true' }),
    ...(timeoutMs !== undefined && { 'x-coordinator-timeout-ms': String(timeoutMs) }),
  };
}

function bodyOf({ models, isStream, isWrong, isOversized, way, text }: ChaosRequest): object {
  const [model, ...others] = models;
  const marks = `${isWrong ? WRONG : 'Please'} ${way === undefined ? '' : markOf(way)}`;
  return {
    ...(others.length > 0 ? { models } : { model }),
    messages: [
      { role: 'system', content: `${marks} ${isOversized ? 'and so on, '.repeat(200) : ''}` },
      { role: 'user', content: `echo: ${text}` },
    ],
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
  };
}
