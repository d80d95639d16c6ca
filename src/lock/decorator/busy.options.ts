import type { Lease } from '../lease.js';
import type { LockOptions } from '../lock.options.js';
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

/** @returns undefined: somebody has the lock, and the call is to be skipped. @throws what `LockService.acquire()` throws */
export function takeLock(locks: LockService, { keys, options, signal }: LockWish): Promise<Lease | undefined> {
  const { onBusy = 'wait', ...given } = options;
  const wanted = { ...given, ...(signal !== undefined && { signal }) };
  if (onBusy === 'skip') return locks.tryAcquire(keys, wanted);
  return locks.acquire(keys, onBusy === 'fail' ? { ...wanted, waitMs: 0 } : wanted);
}
