import { isRecord, overhead, type CountedPart } from './counted.part.js';
import type { PromptFormat } from './prompt.format.js';

/**
 * A JSON value as it would be written. Without recursion (JSON.stringify overflows the stack on what JSON.parse still accepts), and lazy: between two
 * parts nothing is looked at beyond one value, or the names of one object's members.
 */
export function* jsonParts(root: unknown, format: PromptFormat): Generator<CountedPart> {
  const open: Iterator<readonly [name: string, value: unknown]>[] = [[['', root] as const].values()];
  for (let entries = open.at(-1); entries !== undefined; entries = open.at(-1)) {
    const next = entries.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const [name, value] = next.value;
    yield name;
    yield overhead(format.jsonValueTokens + format.jsonEntryTokens);
    if (Array.isArray(value)) {
      open.push(itemsOf(value));
    } else if (isRecord(value)) {
      open.push(membersOf(value));
    } else if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      yield String(value);
    }
  }
}

function* itemsOf(list: readonly unknown[]): Generator<readonly [string, unknown]> {
  for (const item of list) {
    yield ['', item];
  }
}

function* membersOf(record: Readonly<Record<string, unknown>>): Generator<readonly [string, unknown]> {
  for (const name of Object.keys(record)) {
    yield [name, record[name]];
  }
}
