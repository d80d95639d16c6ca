import { LockKeyError, LockOptionsError } from '../lock.errors.js';
import { resolveLockKeys } from '../lock.options.js';

/** What a key is made by: one lock, or several that are taken together. */
export type LockKeys = string | readonly string[];

/** A fixed key, or a function of the call's arguments; it is called once per call, before the lock is taken. */
export type LockKey<Parameters extends readonly unknown[]> = LockKeys | ((...parameters: Parameters) => LockKeys);

/**
 * What a key is for these arguments. A fixed one was checked where the class was defined.
 * @throws LockKeyError where they make none that is any good
 */
export function keysFor<Parameters extends readonly unknown[]>(
  key: LockKey<Parameters>,
  parameters: Parameters,
): LockKeys {
  if (typeof key !== 'function') return key;
  const keys = key(...parameters);
  try {
    return resolveLockKeys(keys);
  } catch (error) {
    throw error instanceof LockOptionsError ? new LockKeyError(error) : error;
  }
}

/** @throws LockOptionsError, where the class is defined, for a fixed key that is no good */
export function checkFixedKey(key: LockKey<never>): void {
  if (typeof key !== 'function') resolveLockKeys(key);
}
