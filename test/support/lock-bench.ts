import type { AcquireAnswer, AcquireCommand, LockMessage, LockStore } from '../../src/lock/lock.store.js';
import { loadLockScripts, type LockScripts } from '../../src/lock/lock.scripts.js';
import { LOCK_LIMITS } from '../../src/lock/lock.limits.js';
import { MemoryLockStore } from '../../src/lock/memory-lock.store.js';
import { LockTable } from '../../src/lock/memory/lock.table.js';
import { RedisLockStore } from '../../src/lock/redis-lock.store.js';
import { CLOCK_KEY, clockedRedis, type ClockedServer, settleInProcess, type TestClock } from './clocked-redis.js';

export const START_US = 1_764_421_836_000_000;
export const PROCESSES = ['p1', 'p2', 'p3'] as const;

/** A lock store in the test's time, with what its processes were told. */
export interface LockBench {
  readonly store: LockStore;
  readonly clock: TestClock;
  /** What was told since the last call: process, then message. */
  heard(): Promise<readonly (readonly [string, LockMessage])[]>;
  /** May be called again. */
  close(): Promise<void>;
}

export interface MemoryBench extends LockBench {
  readonly table: LockTable;
}

export type RedisBench = LockBench & ClockedServer;

/** Nothing is cleared away, as the keys of ClockedRedis live on: what is over must be decided by the store. */
export class EndlessTable extends LockTable {
  override clearOver(): void {
    // On purpose.
  }
}

export async function memoryBench(
  clock: TestClock = { us: START_US },
  table = new LockTable(LOCK_LIMITS),
): Promise<MemoryBench> {
  const store = new MemoryLockStore({ clock: () => clock.us, table });
  const heard = await listen(store, settleInProcess);
  return { store, clock, table, heard, close: () => Promise.resolve() };
}

export async function redisBench(
  address: { readonly host: string; readonly port: number },
  prefix: string,
  clock: TestClock = { us: START_US },
  scripts: LockScripts = loadLockScripts({ clock: { key: CLOCK_KEY } }),
): Promise<RedisBench> {
  const server = clockedRedis(address, prefix, clock);
  const store = new RedisLockStore(server.redis, scripts);
  const heard = await listen(store, () => server.redis.settle());
  return { ...server, store, clock, heard };
}

export async function listen(store: LockStore, settle: () => Promise<void>): Promise<LockBench['heard']> {
  const messages: (readonly [string, LockMessage])[] = [];
  for (const name of PROCESSES) await store.subscribe(name, (message) => messages.push([name, message]));
  return async () => {
    await settle();
    return messages.splice(0);
  };
}

/** An acquire of a token `process-number`, exclusive and waiting unless said otherwise. */
export function acquire(store: LockStore, token: string, rest: Partial<AcquireCommand> = {}): Promise<AcquireAnswer> {
  return store.acquire({
    key: 'k',
    token,
    weight: 1,
    capacity: 1,
    leaseMs: 30_000,
    process: processOf(token),
    ticket: 0,
    waits: true,
    description: '',
    ...rest,
  });
}

export function leave(store: LockStore, token: string, rest: { keepMs?: number; tombstoneMs?: number } = {}) {
  return store.leave({ key: 'k', token, keepMs: 0, tombstoneMs: 0, ...rest });
}

/** A beat of the tokens' process. */
export function beat(store: LockStore, waiters: readonly string[], renewals: readonly string[] = [], leaseMs = 30_000) {
  const process = processOf(waiters[0] ?? renewals[0] ?? 'p1');
  return store.beat({ key: 'k', process, renewals: renewals.map((token) => ({ token, leaseMs })), waiters });
}

export function processOf(token: string): string {
  return token.replace(/-.*$/, '');
}
