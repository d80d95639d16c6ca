import { inspect } from 'node:util';
import { type BookedEntry, CALL_ENDS, type LedgerEntry } from './ledger.entry.js';
import { type Counter, COUNTERS, NO_SUMS, type Sums, type SumsByModel } from './ledger.sums.js';

const WHOLE = /^\d{1,16}$/;

/** An entry as names and values, all of them always and in one order: Redis keeps the names of a block's entries once. */
export function wordsOf(entry: LedgerEntry): readonly string[] {
  const values: Readonly<Record<string, string | number | undefined>> = {
    call: entry.callId,
    at: entry.at,
    request: entry.requestId,
    requested: entry.requested,
    model: entry.model,
    provider: entry.provider,
    deployment: entry.deployment,
    end: entry.end,
    code: entry.code,
    prompt: entry.promptTokens,
    cached: entry.cachedTokens,
    completion: entry.completionTokens,
    reasoning: entry.reasoningTokens,
    nano_usd: entry.costNanoUsd,
    estimated: Number(entry.isEstimated),
    attempts: entry.attempts,
    key: entry.idempotencyKeyHash,
  };
  return Object.entries(values).flatMap(([name, value]) => [name, String(value ?? '')]);
}

/** @throws TypeError for what `wordsOf` never writes */
export function readEntry(id: string, words: readonly unknown[]): BookedEntry {
  const values = pairsOf(words);
  const text = (name: string): string => values.get(name) ?? '';
  const whole = (name: string): number => wholeNumber(values.get(name));
  const end = CALL_ENDS.find((known) => known === values.get('end'));
  if (end === undefined) throw fault(words);
  return {
    id,
    callId: text('call'),
    at: whole('at'),
    requestId: text('request'),
    requested: text('requested'),
    end,
    promptTokens: whole('prompt'),
    cachedTokens: whole('cached'),
    completionTokens: whole('completion'),
    reasoningTokens: whole('reasoning'),
    isEstimated: text('estimated') === '1',
    attempts: whole('attempts'),
    ...readOptional(text),
  };
}

type Optional = 'model' | 'provider' | 'deployment' | 'code' | 'costNanoUsd' | 'idempotencyKeyHash';

/** What stands there empty was not told. */
function readOptional(text: (name: string) => string): Pick<BookedEntry, Optional> {
  const [model, provider, deployment, code] = [text('model'), text('provider'), text('deployment'), text('code')];
  const [cost, key] = [text('nano_usd'), text('key')];
  return {
    ...(model !== '' && { model }),
    ...(provider !== '' && { provider }),
    ...(deployment !== '' && { deployment }),
    ...(code !== '' && { code }),
    ...(cost !== '' && { costNanoUsd: wholeNumber(cost) }),
    ...(key !== '' && { idempotencyKeyHash: key }),
  };
}

/** What a call adds to its sums as names and amounts, those that are not 0. */
export function countsOf(sums: Sums, model: string): readonly (string | number)[] {
  return COUNTERS.filter((counter) => sums[counter] !== 0).flatMap((counter) => [`${counter}|${model}`, sums[counter]]);
}

/** @throws TypeError for what cannot be in a hash of sums */
export function readSums(words: readonly unknown[]): SumsByModel {
  const byModel = new Map<string, Record<Counter, number>>();
  for (const [name, value] of pairsOf(words)) {
    const bar = name.indexOf('|');
    const counter = COUNTERS.find((known) => known === name.slice(0, bar));
    // Of a newer version of this service, on the same store.
    if (counter === undefined) continue;
    const model = name.slice(bar + 1);
    const sums = byModel.get(model) ?? { ...NO_SUMS };
    sums[counter] = Number(value);
    byModel.set(model, sums);
  }
  return byModel;
}

function pairsOf(words: readonly unknown[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) {
    const [name, value] = [words[at], words[at + 1]];
    if (typeof name !== 'string' || typeof value !== 'string') throw fault(words);
    pairs.set(name, value);
  }
  return pairs;
}

function wholeNumber(text: string | undefined): number {
  if (text === undefined || !WHOLE.test(text)) throw fault(text);
  return Number(text);
}

function fault(value: unknown): TypeError {
  return new TypeError(`the ledger holds ${inspect(value)} where that cannot be`);
}
