import type { Untranslatable } from './provider.adapter.js';
import { UpstreamFailure } from './upstream-failure.js';

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

/** What a translation refuses; undefined where it succeeds. */
export function untranslatableIn(translate: () => unknown): Untranslatable | undefined {
  try {
    translate();
    return undefined;
  } catch (error) {
    if (error instanceof UntranslatableError) return { param: error.param, why: error.why };
    throw error;
  }
}

/** A translation. @throws UpstreamFailure that blames the request for what it refuses */
export function translated<T>(translate: () => T): T {
  try {
    return translate();
  } catch (error) {
    if (!(error instanceof UntranslatableError)) throw error;
    throw new UpstreamFailure('request', 'unprocessable', error.message, { param: error.param, cause: error });
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
