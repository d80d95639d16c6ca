import type { CountOptions, TokenCounter } from '../../../src/tokens/index.js';

/** Waits for the exact count, however busy the machine. */
export function patient(counter: TokenCounter): TokenCounter {
  const options = (given?: CountOptions): CountOptions => ({ patienceMs: 600_000, ...given });
  return {
    count: (text, given) => counter.count(text, options(given)),
    countMessage: (message, given) => counter.countMessage(message, options(given)),
    countRequest: (body, given) => counter.countRequest(body, options(given)),
  };
}
