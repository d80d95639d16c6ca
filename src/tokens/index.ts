export { estimateTokens, observedRatio, type EstimateOptions } from './token.estimate.js';
export type { CountOptions, Encoding, TokenCount, TokenCounter, TokenizerOptions } from './token-counter.js';
export { TokenCounters, type TokenCountersOptions } from './token.counters.js';
