import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Lease, LockService, RedisLockStore } from '../../src/lock/index.js';
import { type Address, RedisStore } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { FencedCounters } from '../support/fenced-counter.js';
import { sized } from '../support/proof-scale.js';
import { ask, type RedisSentinel, startRedisSentinel } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

jest.setTimeout(sized(120_000, 300_000));

const FAILOVER_MS = 45_000;
/** Longer than the failover: the first holder has no reason to ask meanwhile. */
const LEASE_MS = 300_000;

/**
 * What a lock on one Redis can't prevent, shown on purpose: a master that dies before it has told its replicas takes the lock with
 * it. The fence is what remains.
 */
describe('a failover that loses a grant', () => {
  let sentinel: RedisSentinel;
  let guard: RedisServer;
  let counters: FencedCounters;
  /** On which the first pod reaches the sentinels: one that heard of the failover would ask at once what became of its lock. */
  let ways: readonly FaultProxy[];
  const stores: RedisStore[] = [];
  const services: LockService[] = [];

  beforeAll(async () => {
    [sentinel, guard] = await Promise.all([startRedisSentinel(), startRedisServer()]);
    counters = new FencedCounters(guard);
    ways = await Promise.all(sentinel.sentinels.map((target) => startFaultProxy({ target })));
  }, FAILOVER_MS);

  afterAll(async () => {
    await Promise.all(services.map((service) => service.close()));
    await Promise.all(stores.map((store) => store.close()));
    counters.close();
    await Promise.all(ways.map((way) => way.close()));
    await Promise.all([sentinel.stop(), guard.stop()]);
  });

  function pod(sentinels: readonly Address[]): LockService {
    const { masterName: master } = sentinel;
    const store = new RedisStore({ kind: 'sentinel', sentinels, master, db: 0, tls: false, keyPrefix: 'two:' });
    const service = new LockService(new RedisLockStore(store), { graceMs: 0 });
    stores.push(store);
    services.push(service);
    return service;
  }

  it('leaves two holders, of whom the fence refuses the older, who then learns that its lock is gone', async () => {
    const [first, second] = [pod(ways), pod(sentinel.sentinels)];
    const older = await acquireUnreplicated(first);
    const number = await counters.claim('k', older.fence);
    expect(number).toBe(0);

    const newer = await acquireAgain(second);
    expect(older.isHeld).toBe(true);
    expect(newer.isHeld).toBe(true);
    expect(newer.fence).toBeGreaterThan(older.fence);

    expect(await counters.claim('k', newer.fence)).toBe(0);
    expect(await counters.write('k', older.fence, 1)).toBe(false);
    expect(await counters.write('k', newer.fence, 1)).toBe(true);
    expect(await counters.read('k')).toBe(1);

    await Promise.all(ways.map((way) => way.accept()));
    await eventually(() => older.signal.aborted, FAILOVER_MS);
    expect(older.signal.reason).toMatchObject({ name: 'LockLostError', reason: 'gone' });
    expect(await older.release()).toBe(false);
    expect(newer.isHeld).toBe(true);
    expect(await newer.release()).toBe(true);
  });

  /** Takes the lock on a master whose replicas are cut off, is cut off from the sentinels, and lets this master die. */
  async function acquireUnreplicated(locks: LockService): Promise<Lease> {
    const master = await sentinel.master();
    const replicas = sentinel.servers.filter(({ port }) => port !== master.port);
    await eventually(async () => (await locks.tryAcquire('warm-up').then((lease) => lease?.release())) === true);
    for (const replica of replicas) replica.freeze();
    // What is under way on the old links would still arrive; they are made anew only after the thaw, when the master is gone.
    await ask(master, (redis) => redis.client('KILL', 'TYPE', 'REPLICA'));
    const lease = await locks.acquire('k', { leaseMs: LEASE_MS });
    await Promise.all(ways.map((way) => way.refuse()));
    await master.crash();
    for (const replica of replicas) replica.thaw();
    return lease;
  }

  /** The first try after the failover that is answered must get it: nobody else is known to hold it. */
  async function acquireAgain(locks: LockService): Promise<Lease> {
    let lease: Lease | undefined;
    await eventually(async () => {
      lease = await locks.acquire('k', { leaseMs: LEASE_MS, waitMs: 0 });
      return true;
    }, FAILOVER_MS);
    if (lease === undefined) throw new Error('no lease');
    return lease;
  }
});
