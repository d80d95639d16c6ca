import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Lease, LockService, LockStoreError, RedisLockStore } from '../../src/lock/index.js';
import { RedisStore } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const LEASE_MS = 900;

let server: RedisServer;
let admin: Redis;
let store: RedisStore;
let locks: LockService;
let others: LockService;

beforeAll(async () => {
  server = await startRedisServer(['--maxmemory-policy', 'noeviction']);
  const { host, port } = server;
  admin = new Redis(port, host);
  store = new RedisStore({ kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'full:' });
  locks = new LockService(new RedisLockStore(store), { graceMs: 0 });
  others = new LockService(new RedisLockStore(store), { graceMs: 0 });
});

const fill = (): Promise<unknown> => admin.config('SET', 'maxmemory', '1');
const empty = (): Promise<unknown> => admin.config('SET', 'maxmemory', '0');

afterEach(empty);

afterAll(async () => {
  await Promise.all([locks.close(), others.close()]);
  await store.close();
  admin.disconnect();
  await server.stop();
});

/** A renewal that the server has done: the time that is left has grown again. */
async function untilRenewed(lease: Lease): Promise<void> {
  let before = lease.remainingMs();
  await eventually(() => {
    const now = lease.remainingMs();
    const hasGrown = now > before;
    before = now;
    return hasGrown;
  });
}

describe('a Redis above its maxmemory', () => {
  it('lets holders keep their locks, lengthen and release them', async () => {
    const lease = await locks.acquire('kept', { leaseMs: LEASE_MS });
    await fill();
    for (let renewal = 0; renewal < 4; renewal += 1) await untilRenewed(lease);
    await lease.extend(5_000);
    lease.assertHeld();
    expect(await lease.release()).toBe(true);
    expect(await locks.inspect('kept')).toBeUndefined();
  });

  it('passes a released lock on to who waits, and lets a waiter leave', async () => {
    const lease = await locks.acquire('passed', { leaseMs: LEASE_MS });
    const next = others.acquire('passed');
    const leaving = new AbortController();
    const left = others.acquire('passed', { signal: leaving.signal }).catch(() => 'left');
    await eventually(async () => (await locks.inspect('passed'))?.queued === 2);
    await fill();
    leaving.abort();
    expect(await left).toBe('left');
    await eventually(async () => (await locks.inspect('passed'))?.queued === 1);
    expect(await lease.release()).toBe(true);
    const passed = await next;
    await untilRenewed(passed);
    expect(await passed.release()).toBe(true);
  });

  it('keeps a lock for its least time', async () => {
    const lease = await locks.acquire('least', { minHoldMs: 60_000 });
    await fill();
    expect(await lease.release()).toBe(true);
    expect((await locks.inspect('least'))?.holders).toMatchObject([{ state: 'released' }]);
  });

  it.each(['drain', 'now'] as const)('lets an operator take a lock from its holder: %s', async (mode) => {
    const lease = await locks.acquire(mode, { leaseMs: LEASE_MS });
    await fill();
    expect(await others.forceRelease(mode, { mode })).toBe(1);
    await eventually(() => lease.signal.aborted);
    expect(lease.signal.reason).toMatchObject({ reason: 'revoked' });
  });

  it('may refuse a new lock, says why, and gives it once there is room', async () => {
    await (await locks.acquire('new')).release();
    await fill();
    const refused = await locks.acquire('new', { waitMs: 300 }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(LockStoreError);
    expect(refused).toMatchObject({ code: 'store_unavailable', isRetryable: true });
    expect(refused).toHaveProperty('message', expect.stringContaining('maxmemory'));
    const waiting = locks.acquire('new');
    await empty();
    expect(await (await waiting).release()).toBe(true);
  });
});
