import { BatchedTokenCounter } from './batched-token.counter.js';
import { CountingThread } from './counting.thread.js';
import type { TokenCounter, TokenizerOptions } from './token-counter.js';

export interface TokenCountersOptions {
  /** Told why the thread broke; counts are upper bounds until it is back. Default: a process warning. */
  readonly onFailure?: (error: Error) => void;
}

/**
 * The counters of a process, and the one thread that encodes for them. It starts with the first count that needs it and loads a vocabulary (o200k about
 * 60 MB, claude 50) with the first text in it, so that this thread never does. It keeps no process alive, and is started anew after a crash.
 *
 * @example
 * const counters = new TokenCounters();
 * const { tokens } = await counters.for({ encoding: 'o200k', ratio: 1 }).countRequest(body);
 * await counters.close();
 */
export class TokenCounters {
  private readonly thread: CountingThread;

  constructor({ onFailure = warn }: TokenCountersOptions = {}) {
    this.thread = new CountingThread({ onFailure });
  }

  /** A counter costs nothing. @throws RangeError when the ratio is not a positive number. */
  for(tokenizer: TokenizerOptions): TokenCounter {
    const { encoding, ratio } = tokenizer;
    if (!Number.isFinite(ratio) || ratio <= 0) {
      throw new RangeError(`ratio must be a positive number, got ${String(ratio)}`);
    }
    if (encoding === 'bytes') return new BatchedTokenCounter(tokenizer, undefined);
    return new BatchedTokenCounter(tokenizer, (pieces, signal) => this.thread.count(encoding, pieces, signal));
  }

  /** Ends the thread. What is being counted, or counted later, is answered with upper bounds. Idempotent. */
  close(): Promise<void> {
    return this.thread.close();
  }

  /** Nest's hook: as a provider it closes with its application. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

function warn(error: Error): void {
  process.emitWarning(`token counting answers upper bounds for a while: ${error.message}`, { type: 'TokensWarning' });
}
