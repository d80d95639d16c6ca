import type { Untranslatable } from '../provider.adapter.js';

/** A member of a request can't be said in Anthropic's format. */
export class NotTranslatableError extends Error implements Untranslatable {
  override readonly name = 'NotTranslatableError';

  constructor(
    readonly param: string,
    readonly why: string,
  ) {
    super(`${param} ${why}`);
  }
}

export const NO_COUNTERPART = 'has no counterpart in the Messages API';

/**
 * Refuses by name what would otherwise be dropped. A null says "not given".
 *
 * @param path - of `value`, with its dot: `messages[0].`; empty at the top
 * @throws NotTranslatableError
 */
export function refuseOthers(value: Readonly<Record<string, unknown>>, path: string, known: readonly string[]): void {
  const other = Object.keys(value).find((key) => isGiven(value[key]) && !known.includes(key));
  if (other !== undefined) throw new NotTranslatableError(path + other, NO_COUNTERPART);
}

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @throws NotTranslatableError */
export function textOf(value: unknown, param: string): string {
  if (typeof value !== 'string') throw new NotTranslatableError(param, 'must be a string');
  return value;
}
