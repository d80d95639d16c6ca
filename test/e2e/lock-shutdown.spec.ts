import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LockService, RedisLockStore } from '../../src/lock/index.js';
import { RedisStore } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { LockApp } from '../support/lock-app.js';
import { monotonicNow } from '../support/lock-worker.js';
import { sized } from '../support/proof-scale.js';
import { ask } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

jest.setTimeout(sized(120_000, 600_000));

const PREFIX = 'down:';
const SHORT_LEASE_MS = 2_000;
/** What a lock that is let go of takes to reach the next pod, ms: less than any lease. */
const SOON_MS = sized(5_000, 1_000);
/** For what the machine is busy with otherwise, ms. */
const SLACK_MS = sized(6_000, 1_500);
/** Aborted work has a second, the store two to confirm and one for the subscription, the connections one to end. */
const LONGEST_CLOSE_MS = 5_000;

let server: RedisServer;
let store: RedisStore;
let locks: LockService;
const apps: LockApp[] = [];

beforeAll(async () => {
  server = await startRedisServer();
  store = new RedisStore({ kind: 'standalone', ...access() });
  locks = new LockService(new RedisLockStore(store));
});

afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.kill()));
});

afterAll(async () => {
  await locks.close();
  await store.close();
  await server.stop();
});

function access() {
  return { host: server.host, port: server.port, db: 0, tls: false, keyPrefix: PREFIX };
}

async function pod(graceMs: number): Promise<LockApp> {
  const app = await LockApp.start({ storeOptions: { kind: 'standalone', ...access() }, graceMs });
  apps.push(app);
  return app;
}

/** Names of what is held or waited for. */
function entries(): Promise<readonly string[]> {
  return ask(server, (redis) => redis.keys(`${PREFIX}lk:*:[eqa]`));
}

async function queued(key: string): Promise<number> {
  return (await locks.inspect(key))?.queued ?? 0;
}

describe.each(['SIGTERM', 'SIGINT'] as const)('a pod that gets %s', (signal) => {
  it('takes no more, tells who waits, lets work finish within the grace, and leaves all locks to the next pod', async () => {
    const other = await locks.acquire('other');
    const old = await pod(1_500);
    for (const work of ['finishes', 'obeys', 'ignores'] as const) old.take({ name: work, key: work, work });
    await eventually(() => WORKS.every((work) => old.fate(work).heldAt !== undefined));
    old.take({ name: 'waits for itself', key: 'obeys', work: 'finishes' });
    old.take({ name: 'waits for others', key: 'other', work: 'finishes' });
    await eventually(async () => (await queued('obeys')) === 1 && (await queued('other')) === 1);
    const next = WORKS.map((key) => nextHolder(key));
    await eventually(async () => (await queued('obeys')) === 2 && (await queued('ignores')) === 1);

    const signalledAt = old.signal(signal);
    await eventually(() => old.fate('waits for others').outcome !== undefined);
    old.take({ name: 'comes late', key: 'free', work: 'finishes' });
    const ended = await old.ended;

    expect(ended).toMatchObject({ code: null, signal, errors: '' });
    expect(ended.at - signalledAt).toBeLessThan(1_500 + LONGEST_CLOSE_MS + SLACK_MS);
    const told = ['waits for itself', 'waits for others', 'comes late'].map((name) => old.fate(name).outcome);
    expect(told).toEqual(['LockClosedError', 'LockClosedError', 'LockClosedError']);
    expect(WORKS.map((work) => old.fate(work).outcome)).toEqual(['released', 'released', undefined]);
    const [afterFinished, afterAborted, afterIgnored] = await Promise.all(next);
    for (const [heldAt = 0, { workedAt = Infinity }] of [
      [afterFinished, old.fate('finishes')],
      [afterAborted, old.fate('obeys')],
    ] as const) {
      expect(heldAt).toBeGreaterThan(workedAt);
      expect(heldAt - workedAt).toBeLessThan(SOON_MS);
    }
    expect((afterIgnored ?? Infinity) - ended.at).toBeLessThan(SOON_MS);
    await other.release();
    expect(await entries()).toEqual([]);
  });
});

const WORKS = ['finishes', 'obeys', 'ignores'] as const;

/** Waits as the next pod does. @returns when it was held */
async function nextHolder(key: string): Promise<number> {
  const lease = await locks.acquire(key, { waitMs: 60_000 });
  const heldAt = monotonicNow();
  await lease.release();
  return heldAt;
}

describe('a pod that gets a second and a third signal', () => {
  it('goes on ending as it was told', async () => {
    const old = await pod(20_000);
    old.take({ name: 'work', key: 'k', work: 'finishes' });
    await eventually(() => old.fate('work').heldAt !== undefined);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGTERM'] as const) {
      old.signal(signal);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect(await old.ended).toMatchObject({ signal: 'SIGTERM', errors: '' });
    expect(old.fate('work').outcome).toBe('released');
    expect(await entries()).toEqual([]);
  });
});

describe('a pod that is closed', () => {
  it('ends by itself, with nothing of it left here or in Redis', async () => {
    const app = await pod(100);
    app.take({ name: 'work', key: 'k', work: 'obeys' });
    await eventually(() => app.fate('work').heldAt !== undefined);
    app.take({ name: 'second', key: 'k', work: 'obeys' });
    await eventually(async () => (await queued('k')) === 1);
    app.close();
    expect(await app.ended).toMatchObject({ code: 0, signal: null, errors: '' });
    expect([app.fate('work').outcome, app.fate('second').outcome]).toEqual(['released', 'LockClosedError']);
    expect(await entries()).toEqual([]);
  });
});

describe('a pod that is killed', () => {
  it('blocks the next one no longer than its lease, and its places in queues go', async () => {
    const other = await locks.acquire('other', { leaseMs: SHORT_LEASE_MS });
    const old = await pod(0);
    old.take({ name: 'work', key: 'k', work: 'obeys', leaseMs: SHORT_LEASE_MS });
    old.take({ name: 'alone', key: 'alone', work: 'obeys', leaseMs: SHORT_LEASE_MS });
    old.take({ name: 'elsewhere', key: 'other', work: 'obeys' });
    await eventually(() => ['work', 'alone'].every((name) => old.fate(name).heldAt !== undefined));
    const next = nextHolder('k');
    await eventually(async () => (await queued('k')) === 1 && (await queued('other')) === 1);
    const killedAt = old.signal('SIGKILL');
    expect((await next) - killedAt).toBeLessThan(SHORT_LEASE_MS + SLACK_MS);
    await eventually(async () => (await queued('other')) === 0, SHORT_LEASE_MS + SLACK_MS);
    await eventually(async () => (await locks.inspect('alone')) === undefined, SHORT_LEASE_MS + SLACK_MS);
    await other.release();
    // Redis keeps the names of what is over for a second more.
    await eventually(async () => (await entries()).length === 0, SHORT_LEASE_MS + SLACK_MS);
  });
});

describe('a pod that is to end while Redis', () => {
  it.each([
    ['is down', () => server.crash(), () => server.restart()],
    [
      'stands still',
      () => {
        server.freeze();
        return Promise.resolve();
      },
      () => {
        server.thaw();
        return Promise.resolve();
      },
    ],
  ])('%s ends nevertheless, and within its bound', async (_, fail, mend) => {
    const app = await pod(300);
    app.take({ name: 'work', key: 'k', work: 'obeys', leaseMs: SHORT_LEASE_MS });
    await eventually(() => app.fate('work').heldAt !== undefined);
    app.take({ name: 'second', key: 'k', work: 'obeys' });
    await eventually(async () => (await queued('k')) === 1);
    await fail();
    const signalledAt = app.signal('SIGTERM');
    const { signal, errors, at } = await app.ended;
    await mend();
    expect({ signal, errors }).toEqual({ signal: 'SIGTERM', errors: '' });
    expect(at - signalledAt).toBeLessThan(300 + LONGEST_CLOSE_MS + SLACK_MS);
    expect(app.fate('second').outcome).toBe('LockClosedError');
    // Whoever comes next finds nobody in its way, at the latest when the lease is over.
    await eventually(
      async () => (await (await locks.tryAcquire('k'))?.release()) === true,
      SHORT_LEASE_MS + LONGEST_CLOSE_MS,
    );
    expect(await entries()).toEqual([]);
  });
});
