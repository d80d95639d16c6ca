import type { Untranslatable } from './provider.adapter.js';

/** A member of a request can't be said in a provider's format. */
export class UntranslatableError extends Error implements Untranslatable {
  override readonly name = 'UntranslatableError';

  constructor(
    readonly param: string,
    readonly why: string,
  ) {
    super(`${param} ${why}`);
  }
}

export const NO_COUNTERPART = 'has no counterpart there';

/**
 * Refuses by name what would otherwise be dropped.
 *
 * @param path - of `value`, with its dot: `messages[0].`; empty at the top
 * @throws UntranslatableError
 */
export function refuseOthers(value: Readonly<Record<string, unknown>>, path: string, known: readonly string[]): void {
  const other = Object.keys(value).find((key) => isGiven(value[key]) && !known.includes(key));
  if (other !== undefined) throw new UntranslatableError(path + other, NO_COUNTERPART);
}

/** In OpenAI's format a null says "not given". */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @throws UntranslatableError */
export function textOf(value: unknown, param: string): string {
  if (typeof value !== 'string') throw new UntranslatableError(param, 'must be a string');
  return value;
}
