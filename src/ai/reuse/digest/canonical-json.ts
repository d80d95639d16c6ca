import { canonicalNumber } from './canonical-number.js';

const BACKSLASH = 92;
const SPACE = 32;
const NONE: ReadonlySet<string> = new Set();

/**
 * One text for all JSON texts that say the same: the order of members, blanks, escapes in strings and the forms of numbers make no
 * difference, everything else does. Numbers count by their exact value, also beyond 2^53, which parsing would round. Members of one
 * name stay in their order: of those, parsers keep different ones.
 *
 * @param text - a JSON text that `JSON.parse` has accepted, nested no deeper than a stack can hold
 * @param without - members of the outermost object that do not count
 */
export function canonicalJson(text: string, without: ReadonlySet<string> = NONE): string {
  return new CanonicalReader(text).value(without);
}

class CanonicalReader {
  #at = 0;

  constructor(private readonly text: string) {}

  value(without = NONE): string {
    this.#skipBlank();
    const first = this.text[this.#at];
    if (first === '{') return this.#object(without);
    if (first === '[') return this.#array();
    return first === '"' ? this.#string() : this.#scalar();
  }

  #object(without: ReadonlySet<string>): string {
    const members: { readonly name: string; readonly text: string }[] = [];
    while (this.#goesOn('}')) {
      const quoted = this.#string();
      this.#skipBlank();
      // The colon.
      this.#at += 1;
      const text = this.value();
      if (without.size === 0 || !without.has(String(JSON.parse(quoted)))) members.push({ name: quoted, text });
    }
    // Stable: members of one name keep their order.
    members.sort((one, other) => (one.name < other.name ? -1 : Number(one.name > other.name)));
    let all = '';
    for (const { name, text } of members) all += `${all === '' ? '' : ','}${name}:${text}`;
    return `{${all}}`;
  }

  #array(): string {
    // Added up, not joined: a long text is then copied once, at the end.
    let items = '';
    while (this.#goesOn(']')) items += `${items === '' ? '' : ','}${this.value()}`;
    return `[${items}]`;
  }

  /** Steps over an opening bracket or a comma to what follows it, or over the closing bracket: then there is nothing more. */
  #goesOn(closing: string): boolean {
    this.#skipBlank();
    const isOver = this.text[this.#at] === closing;
    this.#at += 1;
    if (isOver) return false;
    this.#skipBlank();
    if (this.text[this.#at] !== closing) return true;
    this.#at += 1;
    return false;
  }

  #string(): string {
    const start = this.#at;
    let end = start;
    do {
      end = this.text.indexOf('"', end + 1);
    } while (end !== -1 && this.#isEscaped(end));
    this.#at = end === -1 ? this.text.length : end + 1;
    const quoted = this.text.slice(start, this.#at);
    return quoted.includes('\\') ? JSON.stringify(JSON.parse(quoted)) : quoted;
  }

  #isEscaped(at: number): boolean {
    let backslashes = 0;
    while (this.text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    return backslashes % 2 === 1;
  }

  #scalar(): string {
    const start = this.#at;
    while (this.#at < this.text.length && !',}] \n\r\t'.includes(this.text.charAt(this.#at))) this.#at += 1;
    const token = this.text.slice(start, this.#at);
    return /^[-\d]/.test(token) ? canonicalNumber(token) : token;
  }

  #skipBlank(): void {
    while (this.#at < this.text.length && this.text.charCodeAt(this.#at) <= SPACE) this.#at += 1;
  }
}
