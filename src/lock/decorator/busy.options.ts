import type { Lease } from '../lease.js';
import { LockOptionsError } from '../lock.errors.js';
import { checkOptionsObject, type LockOptions, resolveLockOptions } from '../lock.options.js';
import type { LockService } from '../lock.service.js';
import type { LockKeys } from './lock-key.js';

/**
 * wait: for `waitMs` · fail: with LockBusyError, at once · skip: the call does nothing. A skipped promise resolves to undefined, a
 * skipped stream ends empty, a skipped request is answered with 204.
 */
export type OnBusy = 'wait' | 'fail' | 'skip';

export interface WithLockOptions extends Omit<LockOptions, 'signal'> {
  /** What becomes of a call while somebody has the lock; with `fail` and `skip` nobody waits, whatever `waitMs` says. Default: wait. */
  readonly onBusy?: OnBusy;
}

export interface LockWish {
  readonly keys: LockKeys;
  readonly options: WithLockOptions;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** @throws LockOptionsError, where the class is defined, for options that are no good */
export function checkWithLockOptions(given: WithLockOptions): void {
  checkOptionsObject('lock options', given);
  const { onBusy = 'wait', ...options } = given;
  resolveLockOptions(options);
  if (['wait', 'fail', 'skip'].includes(onBusy)) return;
  throw new LockOptionsError(`onBusy must be wait, fail or skip, not ${onBusy}`);
}

/** @returns undefined: somebody has the lock, and the call is to be skipped. @throws what `LockService.acquire()` throws */
export function takeLock(locks: LockService, { keys, options, signal }: LockWish): Promise<Lease | undefined> {
  const { onBusy = 'wait', ...given } = options;
  const wanted = { ...given, ...(signal !== undefined && { signal }) };
  if (onBusy === 'skip') return locks.tryAcquire(keys, wanted);
  return locks.acquire(keys, onBusy === 'fail' ? { ...wanted, waitMs: 0 } : wanted);
}
