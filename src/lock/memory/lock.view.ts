import type { LockState } from '../lock.store.js';
import type { LockEntry } from './lock.table.js';
import type { OpenLock } from './open-lock.js';

const STATE_NAMES = { p: 'granted', h: 'held', v: 'revoked', r: 'released' } as const;

/** What an operator sees of a lock, unchanged by it; undefined if nobody holds it or waits. */
export function stateOf(lock: OpenLock, shown: number): LockState | undefined {
  const live = [...lock.holders].filter((holder) => holder.score > lock.time);
  if (live.length === 0 && lock.waiters.size === 0) return undefined;
  // Where nobody holds it, what counts is what the first waiter asks for.
  const counting = live.length > 0 ? live : [...lock.waiters].slice(0, 1);
  const entries = live.flatMap(({ member, score }) => {
    const entry = lock.entries.get(member);
    return entry === undefined ? [] : [holderOf(lock, member, score, entry)];
  });
  const waiters = [...lock.waiters].slice(0, shown).flatMap(({ member: token, score: ticket }) => {
    const entry = lock.entries.get(token);
    return entry === undefined ? [] : [{ token, ticket, process: entry.process, description: entry.description }];
  });
  return {
    key: lock.key,
    capacity: Math.min(...counting.map(({ member }) => lock.entries.get(member)?.capacity ?? Infinity)),
    used: entries.reduce((sum, holder) => sum + holder.weight, 0),
    queued: lock.waiters.size,
    holders: entries.slice(0, shown),
    waiters,
  };
}

function holderOf(lock: OpenLock, token: string, expiry: number, entry: LockEntry): LockState['holders'][number] {
  const { fence, weight, process, description } = entry;
  const leaseLeftMs = Math.ceil((expiry - lock.time) / 1000);
  const state = entry.state === 'q' ? 'held' : STATE_NAMES[entry.state];
  return { token, fence, weight, process, description, leaseLeftMs, state };
}
