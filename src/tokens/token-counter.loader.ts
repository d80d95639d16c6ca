import { EncodedTokenCounter } from './encoded-token.counter.js';
import { loadO200k } from './o200k.encoding.js';
import type { TokenCounter, TokenizerOptions } from './token-counter.js';

/**
 * A counter for the given options. The o200k vocabulary (about 50 MB of memory, half a second) is loaded once per process, on the first call
 * that asks for it; counters are cheap after that.
 *
 * @throws RangeError when the ratio is not a positive number.
 * @example
 * const counter = await loadTokenCounter({ encoding: 'o200k', ratio: 1 });
 * const promptTokens = await counter.countRequest(body);
 */
export async function loadTokenCounter(options: TokenizerOptions): Promise<TokenCounter> {
  if (!Number.isFinite(options.ratio) || options.ratio <= 0) {
    throw new RangeError(`ratio must be a positive number, got ${String(options.ratio)}`);
  }
  const encode = options.encoding === 'o200k' ? await loadO200k() : countBytes;
  return new EncodedTokenCounter(encode, options.ratio);
}

function countBytes(piece: string): number {
  return Buffer.byteLength(piece, 'utf8');
}
