export type { CountOptions, Encoding, TokenCount, TokenCounter, TokenizerOptions } from './token-counter.js';
export { TokenCounters, type TokenCountersOptions } from './token.counters.js';
