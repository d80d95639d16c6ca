import { ConfigurationError, ValueError } from './configuration-error.js';

/** Gathers faults, so that an operator sees all of them after one start instead of one after each. */
export class Faults {
  readonly #byPath = new Map<string, string>();

  /**
   * Notes one fault a path: the first says most, later ones are mostly its consequences. A line that begins with
   * `[index]: ` is about that item of the list at `path`.
   */
  add(path: string, message: string): void {
    for (const line of message.split('\n')) {
      const [, item = '', rest = line] = /^(\[\d+\]): (.*)$/.exec(line) ?? [];
      if (!this.#byPath.has(path + item)) this.#byPath.set(path + item, rest);
    }
  }

  /** The parsed value, or undefined after noting why it was refused. */
  parse<T>(path: string, parse: () => T): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.add(path, error.message);
      return undefined;
    }
  }

  has(path: string): boolean {
    return this.#byPath.has(path);
  }

  /** True when a fault was noted at `path` or at a part of it. */
  hasUnder(path: string): boolean {
    return [...this.#byPath.keys()].some((at) => at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`));
  }

  /** @throws ConfigurationError when there is any fault. */
  throwIfAny(): void {
    if (this.#byPath.size > 0)
      throw new ConfigurationError([...this.#byPath].map(([path, message]) => `${path}: ${message}`));
  }
}
