import type { LockState } from '../lock/index.js';
import type { LockCard, LockHolderCard, LockWaiterCard } from './locks.dto.js';

/** A lock as operators see it. */
export function lockCard({ key, capacity, used, queued, holders, waiters }: LockState): LockCard {
  return {
    object: 'lock',
    key,
    capacity,
    used,
    holders: holders.map(holderCard),
    queue: { length: queued, waiters: waiters.map(waiterCard) },
  };
}

function holderCard(holder: LockState['holders'][number]): LockHolderCard {
  const { token, process, description, state, fence, leaseLeftMs, weight } = holder;
  return { token, process, description, state, since: instantOf(fence), lease_left_ms: leaseLeftMs, fence, weight };
}

function waiterCard({ process, description, ticket }: LockState['waiters'][number]): LockWaiterCard {
  return { process, description, since: instantOf(ticket) };
}

/** Fences and tickets are the microseconds at which they were given out, or a few more where two fell on one. */
function instantOf(microseconds: number): string {
  return new Date(Math.floor(microseconds / 1_000)).toISOString();
}
