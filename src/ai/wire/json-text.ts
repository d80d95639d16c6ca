import { stringEnd } from '../../http/index.js';

const QUOTE = 34;

/** Where a member stands in a text. */
interface Member {
  readonly key: string;
  /** Of the key's opening quote. */
  readonly start: number;
  readonly valueStart: number;
  /** Behind the value. */
  readonly end: number;
}

/**
 * What becomes of a member: the JSON text of its new value, or `undefined` to remove it. A function is given the text of the
 * present value, `undefined` if the member is not there.
 */
export type Edit = string | undefined | ((value: string | undefined) => string | undefined);

/**
 * Edits the top-level members of a JSON object's text and leaves every other byte of it as the writer wrote it: integers beyond
 * 2^53, number formats, escapes, member order and duplicate members survive, which parsing and serialising would change.
 * A member that is not there is appended.
 *
 * @param text - a JSON text that `JSON.parse` has accepted and whose value is an object
 */
export function editObject(text: string, edits: Readonly<Record<string, Edit>>): string {
  const absent = new Set(Object.keys(edits));
  let kept = '';
  const keep = (member: string | undefined): void => {
    // Added up, not joined: a long text is then copied once, when it is written.
    if (member !== undefined) kept += kept === '' ? member : `,${member}`;
  };
  for (const { key, start, valueStart, end } of membersOf(text)) {
    if (Object.hasOwn(edits, key)) {
      absent.delete(key);
      keep(memberOf(key, valueAfter(edits[key], text.slice(valueStart, end))));
    } else {
      keep(text.slice(start, end));
    }
  }
  for (const key of absent) keep(memberOf(key, valueAfter(edits[key], undefined)));
  return `{${kept}}`;
}

/**
 * The names of the top-level members of a JSON object's text as they were written down, one that stands there twice both times.
 *
 * @param text - a JSON text that `JSON.parse` has accepted and whose value is an object
 */
export function* namesIn(text: string): Generator<string> {
  for (const { key } of membersOf(text)) yield key;
}

/**
 * Edits the items of a JSON array's text, likewise.
 *
 * @param text - a JSON text that `JSON.parse` has accepted and whose value is an array
 * @param edit - gives an item's new text
 */
export function editItems(text: string, edit: (item: string) => string): string {
  const items: string[] = [];
  let at = skipBlank(text, text.indexOf('[') + 1);
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at);
    items.push(edit(text.slice(at, end)));
    const comma = skipBlank(text, end);
    if (text[comma] !== ',') break;
    at = skipBlank(text, comma + 1);
  }
  return `[${items.join(',')}]`;
}

function valueAfter(edit: Edit, value: string | undefined): string | undefined {
  return typeof edit === 'function' ? edit(value) : edit;
}

function memberOf(key: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${JSON.stringify(key)}:${value}`;
}

function* membersOf(text: string): Generator<Member> {
  let at = skipBlank(text, text.indexOf('{') + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = stringEnd(text, at) + 1;
    const valueStart = skipBlank(text, text.indexOf(':', keyEnd) + 1);
    const end = endOfValue(text, valueStart);
    yield { key: keyOf(text.slice(at, keyEnd)), start: at, valueStart, end };
    const comma = skipBlank(text, end);
    if (text[comma] !== ',') break;
    at = skipBlank(text, comma + 1);
  }
}

/** Keys may be written with escapes (`"mod\u0065l"`). */
function keyOf(quoted: string): string {
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at += 1;
  return at;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start) + 1;
  if (first === '{' || first === '[') return endOfNested(text, start);
  let at = start;
  while (at < text.length && !',}] \n\r\t'.includes(text.charAt(at))) at += 1;
  return at;
}

function endOfNested(text: string, start: number): number {
  let depth = 0;
  let at = start;
  do {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = stringEnd(text, at) + 1;
      continue;
    }
    // `[` `{` and `]` `}` differ from each other only in bit 5.
    if ((char | 32) === 123) depth += 1;
    else if ((char | 32) === 125) depth -= 1;
    at += 1;
  } while (depth > 0 && at < text.length);
  return at;
}
