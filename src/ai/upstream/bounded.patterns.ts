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
 * the text is not ours. V8 looks at the time while it goes back; what runs out of it is no match.
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
    const endsAt = performance.now() + PATIENCE_MS;
    for (const pattern of [...this.#quick, ...this.#slow]) {
      const leftMs = Math.floor(endsAt - performance.now());
      if (leftMs < 1) return false;
      if (this.matches(pattern, words, leftMs)) return true;
    }
    return false;
  }

  private matches(pattern: RegExp, words: string, timeout: number): boolean {
    this.#context ??= createContext();
    Object.assign(this.#context, { pattern, words });
    try {
      return this.#script.runInContext(this.#context, { timeout }) === true;
    } catch (error) {
      if (!isTimeout(error)) throw error;
      if (this.#quick.delete(pattern)) this.ranOut(pattern.source);
      this.#slow.add(pattern);
      return false;
    }
  }
}

function isTimeout(error: unknown): boolean {
  return member(error, 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
