import { type Agent, fetch as undiciFetch, type Response } from 'undici';
import { SeededRandom } from '../simulation/seeded.random.js';
import { WRONG } from './chaos-faults.js';
import { contentOf, dataOf } from './completion-rig.js';
import type { StallClock } from './stall-clock.js';
import { EXACT_TEXT } from './wire-samples.js';

export type ChaosTier = 'free' | 'pro' | 'enterprise';

/** Which models a caller of each tier may use. */
export const CHAOS_TIERS: Readonly<Record<ChaosTier, readonly string[]>> = {
  free: ['basic'],
  pro: ['basic', 'medium', 'tiny'],
  enterprise: ['basic', 'medium', 'tiny', 'large'],
};

export const CHAOS_DEADLINE_MS = 6_000;
/** For the client's own work. */
const SLACK_MS = 2_000;
const MOST_ATTEMPTS = 6;
/** What a request may be told that is nobody's fault but the providers'. */
const HONEST = [429, 502, 503, 504];

/** One request, as its number and the seed make it. */
export interface ChaosRequest {
  /** Its request id, with its tier in front. */
  readonly id: string;
  readonly tier: ChaosTier;
  readonly models: readonly [string, ...string[]];
  readonly isStrict: boolean;
  readonly isStream: boolean;
  readonly isWrong: boolean;
  readonly isOversized: boolean;
  readonly timeoutMs: number | undefined;
  readonly leaveAfterMs: number | undefined;
  /** What the answer must be. */
  readonly text: string;
}

export type ChaosOutcome = 'answered' | 'streamed' | 'broken' | 'refused' | 'left';

export function chaosRequest(seed: number, index: number): ChaosRequest {
  const random = new SeededRandom(seed * 100_003 + index);
  const tier = random.pick(['free', 'pro', 'enterprise'] as const);
  const model = random.pick(['basic', 'medium', 'tiny', 'large'] as const);
  const isList = random.chance(0.15);
  return {
    id: `${tier}-${String(seed)}-${String(index)}`,
    tier,
    models: isList ? [model, random.pick(['basic', 'medium', 'large'] as const)] : [model],
    isStrict: random.chance(0.15),
    isStream: random.chance(0.5),
    isWrong: random.chance(0.03),
    isOversized: random.chance(0.1),
    timeoutMs: random.chance(0.25) ? 200 + random.below(3_000) : undefined,
    leaveAfterMs: random.chance(0.08) ? 5 + random.below(400) : undefined,
    text: `No. ${String(index)}: ${EXACT_TEXT}`,
  };
}

/** Sends it. @returns how it ended, and what must not have happened */
export async function sendChaos(
  request: ChaosRequest,
  { url, dispatcher, stalls }: { readonly url: string; readonly dispatcher: Agent; readonly stalls: StallClock },
): Promise<{ readonly outcome: ChaosOutcome; readonly status: number; readonly faults: readonly string[] }> {
  const { leaveAfterMs, timeoutMs, id } = request;
  const leaving = new AbortController();
  const timer =
    leaveAfterMs === undefined
      ? undefined
      : setTimeout(() => {
          leaving.abort();
        }, leaveAfterMs);
  const startedAt = performance.now() - stalls.stalledMs;
  try {
    const response = await undiciFetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: headersOf(request),
      body: JSON.stringify(bodyOf(request)),
      signal: leaving.signal,
      dispatcher,
    });
    const text = await response.text();
    const tookMs = performance.now() - stalls.stalledMs - startedAt;
    const { outcome, faults } = judge(request, response, text);
    const late = tookMs > (timeoutMs ?? CHAOS_DEADLINE_MS) + SLACK_MS ? [`took ${String(Math.round(tookMs))} ms`] : [];
    return { outcome, status: response.status, faults: [...faults, ...late].map((fault) => `${id}: ${fault}`) };
  } catch (error) {
    if (leaving.signal.aborted) return { outcome: 'left', status: 0, faults: [] };
    return { outcome: 'refused', status: 0, faults: [`${id}: no answer at all: ${String(error)}`] };
  } finally {
    clearTimeout(timer);
  }
}

/** The key of a caller of that tier. */
export function callerKey(tier: ChaosTier): string {
  return `key-of-a-caller-${tier}`;
}

function headersOf({ id, tier, isStrict, timeoutMs }: ChaosRequest): Record<string, string> {
  return {
    'content-type': 'application/json',
    authorization: `Bearer ${callerKey(tier)}`,
    'x-request-id': id,
    ...(isStrict && { 'x-coordinator-strict': 'true' }),
    ...(timeoutMs !== undefined && { 'x-coordinator-timeout-ms': String(timeoutMs) }),
  };
}

function bodyOf({ models, isStream, isWrong, isOversized, text }: ChaosRequest): object {
  const [model, ...others] = models;
  const before = `${isWrong ? WRONG : 'Please'} ${isOversized ? 'and so on, '.repeat(200) : ''}`;
  return {
    ...(others.length > 0 ? { models } : { model }),
    messages: [
      { role: 'system', content: before },
      { role: 'user', content: `echo: ${text}` },
    ],
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
  };
}

function judge(
  request: ChaosRequest,
  { status, headers }: Response,
  text: string,
): { readonly outcome: ChaosOutcome; readonly faults: readonly string[] } {
  const attempts = Number(headers.get('x-coordinator-attempts') ?? Number.NaN);
  const faults = attempts <= MOST_ATTEMPTS ? [] : [`${String(attempts)} attempts`];
  if (status !== 200) return { outcome: 'refused', faults: [...faults, ...refusalFaults(request, status, text)] };
  faults.push(...modelFaults(request, headers.get('x-coordinator-model') ?? ''));
  if (request.isWrong) faults.push('answered though it was refused');
  return request.isStream ? judgeStream(request, text, faults) : judgeWhole(request, text, faults);
}

function judgeWhole({ text: expected }: ChaosRequest, text: string, faults: readonly string[]) {
  const { choices } = JSON.parse(text) as { choices: { message: { content: string }; finish_reason: string }[] };
  const said = choices[0]?.message.content;
  const isRight = said === expected && choices[0]?.finish_reason === 'stop';
  return { outcome: 'answered' as const, faults: isRight ? faults : [...faults, `answered ${text}`] };
}

function judgeStream({ text: expected }: ChaosRequest, text: string, faults: readonly string[]) {
  const said = contentOf(text);
  if (text.endsWith('data: [DONE]\n\n')) {
    const isRight = said === expected && !dataOf(text).some((data) => 'error' in data);
    return { outcome: 'streamed' as const, faults: isRight ? faults : [...faults, `streamed ${text}`] };
  }
  const last = dataOf(text).at(-1) ?? {};
  const isHonest = 'error' in last && expected.startsWith(said) && !text.includes('[DONE]');
  return { outcome: 'broken' as const, faults: isHonest ? faults : [...faults, `ended silently short: ${text}`] };
}

function modelFaults({ tier, models, isStrict }: ChaosRequest, model: string): readonly string[] {
  const isAllowed = CHAOS_TIERS[tier].includes(model) && (!isStrict || models.includes(model));
  return isAllowed ? [] : [`${model} answered, asked for ${models.join()} by ${tier}`];
}

function refusalFaults(request: ChaosRequest, status: number, text: string): readonly string[] {
  const { error } = JSON.parse(text) as { error: { message: unknown; code: unknown; type: unknown } };
  const isShaped = [error.message, error.code, error.type].every((member) => typeof member === 'string');
  const isExpected = HONEST.includes(status) || isOwnFault(request, status, error.code);
  return isShaped && isExpected ? [] : [`refused with ${String(status)} ${text}`];
}

function isOwnFault(
  { tier, models, isStrict, isWrong, isOversized }: ChaosRequest,
  status: number,
  code: unknown,
): boolean {
  if (status === 403) return isStrict && !models.some((model) => CHAOS_TIERS[tier].includes(model));
  if (status !== 400) return false;
  return isWrong || (isOversized && code === 'context_length_exceeded');
}
