import type { Lease } from '../lease.js';
import type { LockService } from '../lock.service.js';
import { runInLease } from '../current-lease.js';
import { takeLock, type WithLockOptions } from './busy.options.js';
import type { LockKeys } from './lock-key.js';

/** One call of a decorated method, before it has begun. */
export interface LockedCall {
  /** This and the keys may throw; then that is what the call fails with. */
  readonly locks: () => LockService;
  readonly keys: () => LockKeys;
  readonly options: WithLockOptions;
  readonly work: () => unknown;
  /** Told when the call is skipped. */
  readonly onSkip: () => void;
}

/** @returns undefined: the call is to be skipped */
export async function takeFor(call: LockedCall, signal?: AbortSignal): Promise<Lease | undefined> {
  const { options } = call;
  const lease = await takeLock(call.locks(), { keys: call.keys(), options, ...(signal !== undefined && { signal }) });
  if (lease === undefined) call.onSkip();
  return lease;
}

/** Runs the work; the lease goes on after it. Released if it fails. */
export async function workUnder(lease: Lease, work: () => unknown): Promise<unknown> {
  try {
    return await runInLease(lease, work);
  } catch (error) {
    await lease.release();
    throw error;
  }
}

/** Ends a lease after work that succeeded. @throws LockLostError if it had been lost */
export async function endAfter(lease: Lease, result?: unknown): Promise<void> {
  await lease.release();
  lease.throwIfLost(result);
}
