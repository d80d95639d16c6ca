import { randomUUID } from 'node:crypto';

/** JSON text that is to be written as it is: parsing it would change integers beyond 2^53. */
export class RawJson {
  /** @param text - a JSON text that `JSON.parse` has accepted */
  constructor(readonly text: string) {}
}

/** `JSON.stringify` for values that hold `RawJson`. */
export function writeJson(value: unknown): string {
  const texts: string[] = [];
  // Unguessable, so that no string of a caller's can stand for one.
  const mark = randomUUID();
  const written = JSON.stringify(value, (_, member: unknown) =>
    member instanceof RawJson ? `${mark}${String(texts.push(member.text) - 1)};` : member,
  );
  return texts.length === 0 ? written : insert(written, mark, texts);
}

function insert(written: string, mark: string, texts: readonly string[]): string {
  const [first = '', ...rest] = written.split(`"${mark}`);
  return rest.reduce((text, piece) => {
    const end = piece.indexOf(';"');
    return text + (texts[Number(piece.slice(0, end))] ?? '') + piece.slice(end + 2);
  }, first);
}
