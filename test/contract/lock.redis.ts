import { expect, it } from '@jest/globals';
import { type INestApplicationContext, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockModule, LockService, RedisLockStore, WithLock } from '../../src/lock/index.js';
import { type AnyStore, RedisStore, type RedisStoreOptions, STORE, StoreModule } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import type { FaultScene } from '../support/fault-scene.js';
import { recordFigures } from '../support/figures.js';
import { pass } from '../support/pass.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { freePort } from '../support/free-port.js';

const MEMORY_MS = 60_000;
const WAITERS = 50;

@Injectable()
class Jobs {
  end: (() => void) | undefined;

  @WithLock('job')
  async run(): Promise<string> {
    await new Promise<void>((resolve) => (this.end = resolve));
    return 'done';
  }
}

@Module({})
class RootModule {}

/** What can be seen of locks in Redis: keys, channels, commands, errors, connections. */
export function describeLocksInRedis(scene: () => FaultScene): void {
  it('B6: tells by the cause what somebody has to change', async () => {
    const { redis } = scene().ground;
    const base = redis.options('b6:');
    const wrongType = scene().names('taken')[0];
    await scene().ask('taken', (client) => client.set(wrongType, 'something else'));
    const [pod] = await scene().world.pods(1);
    await expect(pod.acquire('taken')).rejects.toMatchObject({
      name: 'LockStoreError',
      isRetryable: false,
      cause: { reason: 'wrong_type' },
    });
    await scene().ask('taken', (client) => client.del(wrongType));
    const other = { host: '127.0.0.1', db: 0, tls: false, keyPrefix: 'b6:', port: redis.servers[0]?.port ?? 0 };
    const wrongKind: RedisStoreOptions =
      redis.kind === 'cluster' ? { kind: 'standalone', ...other } : { ...other, kind: 'cluster', nodes: [other] };
    const password = { ...base, password: 'wrong', username: 'nobody' };
    const nobody: RedisStoreOptions = { kind: 'standalone', ...other, port: await freePort() };
    expect(await Promise.all([wrongKind, password, nobody].map(causeOf))).toMatchObject([
      { name: 'LockStoreError', isRetryable: false, cause: { reason: 'wrong_topology' } },
      { name: 'LockStoreError', isRetryable: false, cause: { reason: 'wrong_password' } },
      { name: 'LockStoreError', isRetryable: true, cause: { name: 'StoreUnavailableError' } },
    ]);
  });

  it('B7: keeps all keys of a lock in one slot, for every name', async () => {
    const [pod] = await scene().world.pods(1);
    const keys = Array.from({ length: sized(30, 300) }, (_, index) => `{a}${index}{b}`);
    const lease = await pod.acquire(keys);
    const waiting = pod.acquire(keys, { waitMs: 1_000 }).catch((error: unknown) => error);
    for (const key of keys) {
      const tags = scene()
        .names(key)
        .map((name) => /\{([^}]+)\}/.exec(name)?.[1]);
      expect(new Set(tags).size).toBe(1);
    }
    expect(await waiting).toMatchObject({ code: 'lock_timeout' });
    await lease.release();
  });

  it('C2: has one channel for each process however many keys it waits for, and none after it has closed', async () => {
    const channels = async (): Promise<number> => {
      const pattern = `${scene().keyPrefix}lk:*`;
      return (await scene().askAll((redis) => redis.call('PUBSUB', 'CHANNELS', pattern))).flat().length;
    };
    const store = await scene().world.open();
    const [one, two] = [new LockService(store), new LockService(await scene().world.open())];
    const count = sized(150, 1_000);
    const visit = async (index: number): Promise<void> => {
      const key = `key:${index}:${Math.random()}`;
      const lease = await one.acquire(key);
      const waiting = two.acquire(key, { waitMs: index % 2 === 0 ? 20 : 60_000 }).catch((): undefined => undefined);
      if (index % 2 === 0) await waiting;
      await lease.release();
      await (await waiting)?.release();
    };
    for (let start = 0; start < count; start += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, index) => visit(start + index)));
    }
    expect(await channels()).toBe(2);
    await Promise.all([one.close(), two.close()]);
    expect(await channels()).toBe(0);
    expect(await scene().world.busy()).toEqual([]);
  });

  it('D7: lets go before the connections close, and leaves a client that was passed in as it was', async () => {
    const client = scene().ground.redis.clientThrough((server) => {
      const index = scene().ground.redis.servers.findIndex(({ port }) => port === server.port);
      const proxy = scene().proxies[index];
      if (proxy === undefined) throw new Error('no proxy');
      return proxy;
    });
    const app = await startApp({ kind: 'client', client, keyPrefix: scene().keyPrefix });
    const jobs = app.get(Jobs);
    const held = jobs.run();
    const outcome = held.catch((error: unknown) => error);
    await eventually(() => jobs.end !== undefined);
    const waiting = jobs.run().catch((error: unknown) => error);
    const closed = app.close();
    expect(await waiting).toMatchObject({ code: 'draining' });
    await closed;
    expect(await scene().world.busy()).toEqual([]);
    jobs.end?.();
    expect(await outcome).toMatchObject({ code: 'lock_lost', reason: 'closing', result: 'done' });
    await client.connect();
    expect(await client.set(`${scene().keyPrefix}mine`, '1', 'PX', 1_000)).toBe('OK');
    client.disconnect();
  });

  it('D12 and invariant 8: leaves nothing that does not end by itself within the memory of fences', async () => {
    // What earlier tests left may end meanwhile.
    await scene().askAll((redis) => redis.flushall());
    const [one, two] = [await scene().world.pod(), await scene().world.pod()];
    const operate = async (index: number): Promise<void> => {
      const key = `k${index % 40}`;
      const pod = index % 2 === 0 ? one : two;
      const mode = index % 3 === 0 ? ({ permits: 2 } as const) : 'exclusive';
      if (index % 17 === 0) pod.wire.next('acquire', 'lost');
      const lease = await pod.locks.acquire(key, { waitMs: 1 + (index % 5), mode }).catch((): undefined => undefined);
      await lease?.release();
    };
    for (let start = 0; start < 1_000; start += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => operate(start + index)));
    }
    await scene().world.empty();
    // A process that stood still for longer than a command may take says its farewells again, and each makes a fence anew: once it
    // is closed it has said them all.
    if (!isFullProof) await Promise.all([one.locks.close(), two.locks.close()]);
    const left = await leftovers(scene());
    expect(left.filter(({ ms }) => ms < 0 || ms > MEMORY_MS)).toEqual([]);
    expect(left.filter(({ name }) => !/lk:\{[^}]+\}(:x:[^:]+)?$/.test(name))).toEqual([]);
    if (isFullProof) await pass(MEMORY_MS + 2_000);
    else await clear(scene(), left);
    expect(await dbSize(scene())).toBe(0);
  });

  it('costs two commands a section where nobody else wants it, and two on the way of each who waits', async () => {
    const pods = [await scene().world.pod(), await scene().world.pod()] as const;
    const [{ locks: one }] = pods;
    const sections = sized(50, 1_000);
    await resetStats(scene());
    for (let section = 0; section < sections; section += 1) await one.withLock('k', {}, () => undefined);
    const uncontended = await scriptCalls(scene());
    expect(uncontended).toBe(2 * sections);
    await resetStats(scene());
    const startedAt = performance.now();
    const visit = async (index: number): Promise<void> => {
      const { locks } = pods[index % 2 === 0 ? 0 : 1];
      for (let round = 0; round < sections / WAITERS; round += 1) {
        await locks.withLock('k', { waitMs: 60_000 }, () => pass(2));
      }
    };
    await Promise.all(Array.from({ length: WAITERS }, (_, index) => visit(index)));
    const contended = await scriptCalls(scene());
    const calls = pods.map(({ wire }) => wire.calls);
    expect(calls.reduce((sum, { acquire, leave }) => sum + acquire + leave, 0)).toBe(4 * sections);
    // Beats go beside the way, some of them perhaps still on it: two a second each, and one at a known expiry.
    const beats = calls.reduce((sum, { beat }) => sum + beat, 0);
    // Each process may find once that the server does not know the script of a beat yet.
    expect(contended - 2 * sections).toBeLessThanOrEqual(beats + pods.length);
    expect(beats).toBeLessThanOrEqual(2 * (2 + Math.ceil((performance.now() - startedAt) / 250)));
    recordFigures('lock contract', {
      'commands a section, uncontended': uncontended / sections,
      'commands a section, contended': contended / sections,
    });
  });
}

/** What becomes of an acquire on a store that is opened like this. */
async function causeOf(options: RedisStoreOptions): Promise<unknown> {
  const store = new RedisStore({ ...options, commandTimeoutMs: 400 });
  const locks = new LockService(new RedisLockStore(store), { graceMs: 0 });
  const outcome: unknown = await locks.acquire('k', { waitMs: 1_500 }).catch((error: unknown) => error);
  await locks.close();
  await store.close();
  return outcome;
}

function startApp(options: RedisStoreOptions): Promise<INestApplicationContext> {
  const locks = LockModule.forRootAsync({
    inject: [STORE],
    useFactory: (store: AnyStore) => ({ store, graceMs: 100 }),
  });
  const root = { module: RootModule, imports: [StoreModule.forRoot(options), locks], providers: [Jobs] };
  return NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
}

async function dbSize(scene: FaultScene): Promise<number> {
  const sizes = await scene.askAll((redis) => redis.dbsize());
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function leftovers(scene: FaultScene): Promise<readonly { readonly name: string; readonly ms: number }[]> {
  const all = await scene.askAll(async (redis) => {
    const names = await redis.keys(`${scene.keyPrefix}*`);
    const lives = await Promise.all(names.map((name) => redis.pttl(name)));
    return names.map((name, index) => ({ name, ms: lives[index] ?? 0 }));
  });
  return all.flat();
}

/** In place of the minute that it takes by itself. */
async function clear(scene: FaultScene, left: readonly { readonly name: string }[]): Promise<void> {
  await scene.askAll(async (redis) => {
    for (const { name } of left) if ((await redis.keys(name)).length > 0) await redis.del(name);
  });
}

async function resetStats(scene: FaultScene): Promise<void> {
  await scene.askAll((redis) => redis.config('RESETSTAT'));
}

/** How many scripts ran, by the servers' own count. */
async function scriptCalls(scene: FaultScene): Promise<number> {
  const stats = await scene.askAll((redis) => redis.info('commandstats'));
  return stats
    .flatMap((text) => [...text.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)])
    .reduce((sum, [, calls]) => sum + Number(calls), 0);
}
