import { ApiError } from '../../http/index.js';
import { namesIn } from './json-text.js';

/**
 * Members that decide what a call may do and cost. A body goes on as it was written, and its next reader may take `Model` for `model`
 * (Go's encoding/json, Jackson where it is told to), `maxTokens` for `max_tokens` (whatever reads ProtoJSON, as Google's servers do:
 * https://protobuf.dev/programming-guides/json/) or the first of two, where this server read the last (RFC 8259, section 4): such a
 * body would be judged by one value and answered by another.
 */
export class GuardedNames {
  readonly #names: ReadonlySet<string>;
  readonly #byCamel: ReadonlyMap<string, string>;
  readonly #longest: number;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
    this.#byCamel = new Map([...this.#names].map((name) => [camelOf(name), name]));
    this.#longest = Math.max(...[...this.#names].map(({ length }) => length));
  }

  /**
   * @param text - a JSON text that `JSON.parse` has accepted and whose value is an object
   * @throws ApiError invalid_request for a member that differs from one of the names in its spelling alone, and for one that is said twice
   */
  check(text: string): void {
    const said = new Set<string>();
    for (const name of namesIn(text)) {
      if (name.length > this.#longest) continue;
      const meant = this.#names.has(name) ? name : (this.#byCamel.get(name) ?? folded(name));
      if (!this.#names.has(meant)) continue;
      if (name !== meant) throw refusal(name, `is not ${meant}, and providers may take it for that`);
      if (said.has(name)) throw refusal(name, 'must not be given twice');
      said.add(name);
    }
  }
}

/** Unicode's simple folding, which has more than ASCII's: `ſ` is an s, and the Kelvin sign a k. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function camelOf(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function refusal(param: string, fact: string): ApiError {
  return new ApiError('invalid_request', `${JSON.stringify(param)} ${fact}`, { param });
}
