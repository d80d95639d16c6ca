export { loadTokenCounter } from './token-counter.loader.js';
export type { TokenCounter, TokenizerOptions } from './token-counter.js';
