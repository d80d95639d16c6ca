/** What a key is made by: one lock, or several that are taken together. */
export type LockKeys = string | readonly string[];

/** A fixed key, or a function of the call's arguments; it is called once per call, before the lock is taken. */
export type LockKey<Parameters extends readonly unknown[]> = LockKeys | ((...parameters: Parameters) => LockKeys);

/** What a key is for these arguments. Whether it is a good one is checked where the lock is taken. */
export function keysFor<Parameters extends readonly unknown[]>(
  key: LockKey<Parameters>,
  parameters: Parameters,
): LockKeys {
  return typeof key === 'function' ? key(...parameters) : key;
}
