import type { CountOptions, TokenCounter, TokenCounters } from '../../src/tokens/index.js';

/** Longer than any test. */
const PATIENCE_MS = 600_000;

/** Waits for the exact count, however busy the machine. */
export function patient(counter: TokenCounter): TokenCounter {
  const options = (given?: CountOptions): CountOptions => ({ ...given, patienceMs: PATIENCE_MS });
  return {
    count: (text, given) => counter.count(text, options(given)),
    countMessage: (message, given) => counter.countMessage(message, options(given)),
    countRequest: (body, given) => counter.countRequest(body, options(given)),
  };
}

/** All that count with these wait for exact counts: the first of them loads a vocabulary, for which a busy machine takes its time. */
export function countPatiently(counters: TokenCounters): TokenCounters {
  const counterFor = counters.for.bind(counters);
  counters.for = (tokenizer) => patient(counterFor(tokenizer));
  return counters;
}
