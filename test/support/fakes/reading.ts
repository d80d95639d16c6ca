/** A provider would answer 400. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest';
}

export type Members = Readonly<Record<string, unknown>>;

export function object(value: unknown, path: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new RefusedRequest(`${path}: Input should be an object`);
}

export function list(value: unknown, path: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new RefusedRequest(`${path}: Input should be a valid list`);
}

export function text(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw new RefusedRequest(`${path}: Input should be a valid string`);
}

export function onlyKnown(value: Members, path: string, known: readonly string[]): void {
  const other = Object.keys(value).find((key) => !known.includes(key));
  if (other !== undefined) throw new RefusedRequest(`${path}${other}: Extra inputs are not permitted`);
}

/** A member that may be left out; no member at all where it is. */
export function optional<T>(name: string, value: unknown, read: (value: unknown) => T): Readonly<Record<string, T>> {
  return value === undefined || value === null ? {} : { [name]: read(value) };
}

export function number(value: unknown, path: string): number {
  if (typeof value === 'number') return value;
  throw new RefusedRequest(`${path}: Input should be a valid number`);
}

/** A text in three pieces, as a model says it: cut between characters, not between code units. */
export function pieces(whole: string): readonly string[] {
  const characters = Array.from(whole);
  const size = Math.max(1, Math.ceil(characters.length / 3));
  const cut: string[] = [];
  for (let at = 0; at < characters.length; at += size) cut.push(characters.slice(at, at + size).join(''));
  return cut;
}
