import { isDeepStrictEqual } from 'node:util';
import {
  CHAOS_ATTEMPTS,
  CHAOS_DEADLINE_MS,
  CHAOS_PRICES,
  CHAOS_TIERS,
  chainOf,
  goodDeployments,
} from './chaos-fleet.js';
import { Outages } from './chaos-outages.js';
import type { ChaosEnd } from './chaos-traffic.js';
import { streamedUsage, type WireCall } from './chaos-wire.js';
import { contentOf, dataOf } from './completion-rig.js';
import { grouped } from './grouped.js';

export type ChaosOutcome = 'answered' | 'streamed' | 'broken' | 'refused' | 'left';

/** What happened: the clients' side, and the providers'. */
export interface ChaosRun {
  readonly ends: readonly ChaosEnd[];
  readonly calls: readonly WireCall[];
}

/** For the client's own work, ms. */
const SLACK_MS = 1_000;
/** A timer fires up to one early, and the clocks of client and server are read one after the other, ms. */
const CLOCK_MS = 5;
/** What a request may be told that is nobody's fault but the providers'. */
const HONEST = [429, 502, 503, 504];

/** @returns everything that must not have happened, each with the request's id */
export function faultsOf({ ends, calls }: ChaosRun): readonly string[] {
  const outages = new Outages(calls, new Map(ends.map(({ request, endedAt }) => [request.id, endedAt])));
  const callsById = grouped(calls, ({ id }) => id);
  const known = new Set(ends.map(({ request }) => request.id));
  const strangers = calls.filter(({ id }) => !known.has(id)).map(({ id }) => `${id}: a call for nobody`);
  const found = ends.flatMap((end) => {
    const own = callsById.get(end.request.id) ?? [];
    const faults = [...callFaults(end, own), ...(end.hasLeft ? [] : endFaults(end, own, outages))];
    return faults.map((fault) => `${end.request.id}: ${fault}`);
  });
  return [...strangers, ...found];
}

export function outcomeOf({ request, status, hasLeft, text }: ChaosEnd): ChaosOutcome {
  if (hasLeft) return 'left';
  if (status !== 200) return 'refused';
  if (!request.isStream) return 'answered';
  return text.endsWith('data: [DONE]\n\n') ? 'streamed' : 'broken';
}

/** What was sent for it: never more than the budget, never to a model that it may not have. */
function callFaults({ request }: ChaosEnd, calls: readonly WireCall[]): readonly string[] {
  const faults: string[] = [];
  if (calls.length > CHAOS_ATTEMPTS.perRequest) faults.push(`${String(calls.length)} calls`);
  for (const [deployment, { length }] of grouped(calls, (call) => call.deployment))
    if (length > CHAOS_ATTEMPTS.perDeployment) faults.push(`${String(length)} calls of ${deployment}`);
  const allowed = chainOf(request);
  for (const { model } of calls)
    if (!allowed.includes(model)) faults.push(`called ${model}, may have ${allowed.join()}`);
  return faults;
}

function endFaults(end: ChaosEnd, calls: readonly WireCall[], outages: Outages): readonly string[] {
  const { request, status, tookMs, text, header } = end;
  if (status === 0) return [`no answer at all: ${text}`];
  const faults: string[] = [];
  if (tookMs > deadlineOf(end) + SLACK_MS) faults.push(`took ${String(Math.round(tookMs))} ms`);
  const attempts = header('x-coordinator-attempts');
  if (attempts !== String(calls.length)) faults.push(`says ${String(attempts)} attempts of ${String(calls.length)}`);
  const outcome = outcomeOf(end);
  if (outcome === 'refused') return [...faults, ...refusalFaults(end, calls, outages)];
  if (request.isWrong) faults.push('answered though it was refused');
  if (outcome === 'broken') return [...faults, ...brokenFaults(end, calls)];
  const [answer, ...more] = calls.filter((call) => call.end === 'whole');
  if (answer === undefined || more.length > 0) return [...faults, `one answer of ${told(calls)}`];
  return [
    ...faults,
    ...answerFaults(end, answer),
    ...(request.isStream ? streamFaults(end) : wholeFaults(end)),
    ...billFaults(end, answer),
  ];
}

function told(calls: readonly WireCall[]): string {
  const tellings = calls.map(
    ({ deployment, end, startedAt, endedAt }) =>
      `${deployment} ${end} in ${String(Math.round(endedAt - startedAt))} ms`,
  );
  return tellings.join(', ');
}

function deadlineOf({ request }: ChaosEnd): number {
  return request.timeoutMs ?? CHAOS_DEADLINE_MS;
}

/** An error is honest where it has the right shape, and somebody or something was really at fault. */
function refusalFaults(end: ChaosEnd, calls: readonly WireCall[], outages: Outages): readonly string[] {
  const { status, text } = end;
  const { error } = JSON.parse(text) as { error: { message: unknown; code: unknown; type: unknown } };
  if (![error.message, error.code, error.type].every((member) => typeof member === 'string'))
    return [`refused without saying why: ${text}`];
  if (isOwnFault(end)) return [];
  const isTooLong = end.request.isOversized && status === 400 && error.code === 'context_length_exceeded';
  const faults = HONEST.includes(status) || isTooLong ? [] : [`refused with ${String(status)} ${text}`];
  return isOutOfTime(end) ? faults : [...faults, ...needless(end, calls, outages)];
}

/** Somebody had answered, or could have. */
function needless(end: ChaosEnd, calls: readonly WireCall[], outages: Outages): readonly string[] {
  if (calls.some((call) => call.end === 'whole')) return ['refused though a provider answered'];
  if (calls.length >= CHAOS_ATTEMPTS.perRequest) return [];
  return passedOver(end, calls, outages).map((deployment) => `refused though ${deployment} was fine: ${end.text}`);
}

function isOwnFault({ request, status }: ChaosEnd): boolean {
  if (status === 400) return request.isWrong;
  const { tier, models, isStrict } = request;
  return status === 403 && isStrict && !models.some((model) => CHAOS_TIERS[tier].includes(model));
}

function isOutOfTime(end: ChaosEnd): boolean {
  return end.endedAt - end.startedAt >= deadlineOf(end) - CLOCK_MS;
}

/** Who was not asked, and had nothing against it all the time that the request lasted. */
function passedOver(
  { request, startedAt, endedAt }: ChaosEnd,
  calls: readonly WireCall[],
  outages: Outages,
): readonly string[] {
  const models = chainOf(request).filter((model) => !(request.isOversized && model === 'tiny'));
  return models
    .flatMap(goodDeployments)
    .filter((deployment) => !calls.some((call) => call.deployment === deployment))
    .filter((deployment) => !outages.wasOut(deployment, startedAt, endedAt));
}

/** A stream that could not be completed says so, and says nothing else that is not true. */
function brokenFaults({ request, text, ...end }: ChaosEnd, calls: readonly WireCall[]): readonly string[] {
  const last = dataOf(text).at(-1) ?? {};
  const said = contentOf(text);
  const faults: string[] = [];
  if (!('error' in last) || text.includes('[DONE]')) faults.push(`ended silently short: ${text}`);
  if (!request.expected.some((expected) => expected.startsWith(said))) faults.push(`streamed ${text}`);
  if (calls.at(-1)?.end === 'whole' && !isOutOfTime({ request, text, ...end }))
    faults.push('broken off though the provider was not');
  return faults;
}

/** It is what that provider said, and what was asked for; the headers name who it was. */
function answerFaults({ request, header }: ChaosEnd, { provider, model, text = '' }: WireCall): readonly string[] {
  const faults = request.expected.includes(text) ? [] : [`the provider said ${text}`];
  if (header('x-coordinator-provider') !== provider)
    faults.push(`answered by ${provider}, says ${String(header('x-coordinator-provider'))}`);
  if (header('x-coordinator-model') !== model)
    faults.push(`answered by ${model}, says ${String(header('x-coordinator-model'))}`);
  return faults;
}

function wholeFaults({ request, text, header }: ChaosEnd): readonly string[] {
  const { model, choices } = JSON.parse(text) as {
    model: string;
    choices: { message: { content: string }; finish_reason: string }[];
  };
  const [choice] = choices;
  const isRight =
    choice !== undefined &&
    request.expected.includes(choice.message.content) &&
    choice.finish_reason === 'stop' &&
    model === header('x-coordinator-model');
  return isRight ? [] : [`answered ${text}`];
}

function streamFaults({ request, text }: ChaosEnd): readonly string[] {
  const data = dataOf(text);
  const choices = data.flatMap((each) => (each['choices'] as { finish_reason: string | null }[] | undefined) ?? []);
  const isRight =
    request.expected.includes(contentOf(text)) &&
    choices.at(-1)?.finish_reason === 'stop' &&
    !data.some((each) => 'error' in each);
  return isRight ? [] : [`streamed ${text}`];
}

/** Usage is what the provider said, and the cost is the price of that, exactly. Where it said nothing, nothing is made up. */
function billFaults({ request, text, header }: ChaosEnd, { usage }: WireCall): readonly string[] {
  const told = request.isStream ? streamedUsage(text) : ((JSON.parse(text) as { usage?: unknown }).usage ?? undefined);
  const cost = usage === undefined ? undefined : costOf(usage as BilledUsage);
  const expected = usage === undefined ? undefined : { ...(usage as BilledUsage), cost };
  const faults = isDeepStrictEqual(told, expected)
    ? []
    : [`billed ${JSON.stringify(told)}, the provider ${JSON.stringify(usage)}`];
  const costHeader = header('x-coordinator-cost-usd');
  if (!request.isStream && costHeader !== cost?.toString())
    faults.push(`costs ${String(costHeader)}, should ${String(cost)}`);
  return faults;
}

interface BilledUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number };
}

/** USD, to a billionth. */
function costOf({
  prompt_tokens: prompt,
  completion_tokens: completion,
  prompt_tokens_details: details,
}: BilledUsage): number {
  const cached = details?.cached_tokens ?? 0;
  const { input, cachedInput, output } = CHAOS_PRICES;
  return (
    Math.round((prompt - cached) * input * 1_000 + cached * cachedInput * 1_000 + completion * output * 1_000) / 1e9
  );
}
