import { AsyncLocalStorage } from 'node:async_hooks';
import type { LockClient } from './client/lock.client.js';
import type { Hold } from './hold.js';
import type { Lease } from './lease.js';

interface LeaseScope {
  readonly lease: Lease;
  readonly outer: LeaseScope | undefined;
}

// The chain of calls belongs to the whole process, as the runtime does; there is nothing else to hang it on.
const scopes = new AsyncLocalStorage<LeaseScope>();
/** Those that work runs in and that are not released. */
const running = new Set<Lease>();

/**
 * The innermost lease under which this code was called, by `withLock()` or `@WithLock()`. Undefined outside, and in work that was
 * left behind and outlived its lease.
 */
export function currentLease(): Lease | undefined {
  for (const { lease } of scopesOutwards()) if (!lease.isReleased) return lease;
  return undefined;
}

/**
 * Runs work as the inside of a lease. Following the chain of calls makes every promise of the process dearer, so it ends with the last
 * lease; what was left behind by then knows only leases that are released, which count for nothing.
 */
export function runInLease<Result>(lease: Lease, work: () => Result): Result {
  if (!lease.isReleased && !running.has(lease)) {
    running.add(lease);
    lease.onRelease(() => {
      running.delete(lease);
      if (running.size === 0) scopes.disable();
    });
  }
  return scopes.run({ lease, outer: scopes.getStore() }, work);
}

/**
 * What this chain of calls holds of a key already. Only what is still held counts: a promise that nobody awaited keeps the chain,
 * but not the lock.
 */
export function heldInChain(client: LockClient, key: string): Hold | undefined {
  for (const { lease } of scopesOutwards()) {
    const hold = lease.isReleased ? undefined : lease.holds.find((one) => one.key === key && one.client === client);
    if (hold?.isValid === true) return hold;
  }
  return undefined;
}

function* scopesOutwards(): Generator<LeaseScope> {
  for (let scope = scopes.getStore(); scope !== undefined; scope = scope.outer) yield scope;
}
