import { type Context, createContext, Script } from 'node:vm';
import { member } from '../wire/json-value.js';

/** What all patterns of one provider together may take of one text, ms: nobody holds the event loop for more than 50. */
const PATIENCE_MS = 20;

/** Says whether words are of a certain kind. */
export interface WordTest {
  test(words: string): boolean;
}

/**
 * Regular expressions of the configuration's on a provider's words: a nested repetition can take years on a text that nearly fits, and
 * the text is not ours. V8 looks at the time while it goes back; what runs out of it is no match. It is the processor's time that counts:
 * a process that was kept from running has not tried yet.
 */
export class BoundedPatterns implements WordTest {
  readonly #script = new Script('pattern.test(words)');
  readonly #quick: Set<RegExp>;
  /** They ran out of time once, and are tried when all others have had theirs. */
  readonly #slow = new Set<RegExp>();
  #context: Context | undefined;

  /** @param ranOut - told of each pattern the first time that it takes too long */
  constructor(
    patterns: readonly RegExp[],
    private readonly ranOut: (pattern: string) => void,
  ) {
    this.#quick = new Set(patterns);
  }

  test(words: string): boolean {
    this.#context ??= createContext();
    const leftMs = patience();
    for (const pattern of [...this.#quick, ...this.#slow]) {
      Object.assign(this.#context, { pattern, words });
      if (this.matches(this.#context, pattern, leftMs)) return true;
    }
    return false;
  }

  private matches(context: Context, pattern: RegExp, leftMs: () => number): boolean {
    let timeout = leftMs();
    if (timeout < 1) return false;
    // V8 looks at the wall clock: where it ran out and time is left, other processes had the processor.
    for (; timeout >= 1; timeout = leftMs()) {
      try {
        return this.#script.runInContext(context, { timeout }) === true;
      } catch (error) {
        if (!isTimeout(error)) throw error;
      }
    }
    if (this.#quick.delete(pattern)) this.ranOut(pattern.source);
    this.#slow.add(pattern);
    return false;
  }
}

/** @returns what is left of the patience, whole ms */
function patience(): () => number {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    // Other threads count too, but never for more than the time that has passed.
    const usedMs = Math.min(performance.now() - startedAt, (user + system) / 1_000);
    return Math.floor(PATIENCE_MS - usedMs);
  };
}

function isTimeout(error: unknown): boolean {
  return member(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
