import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster } from 'ioredis';
import { type RedisStoreOptions, RedisStore } from '../../src/store/index.js';
import { COUNT, PUBLISH } from '../support/counter-script.js';
import { eventually } from '../support/eventually.js';
import { pass } from '../support/pass.js';
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.js';
import { ask, hasReplicas, type RedisSentinel, startRedisSentinel } from '../support/redis-sentinel.js';
import type { RedisServer } from '../support/redis-server.js';

const CEILING_MS = 20_000;
const START_MS = 60_000;
const ACCESS = { db: 0, tls: false, keyPrefix: 't:' };
const TUNING = { commandTimeoutMs: 400, heartbeatMs: 100 };
const opened: RedisStore[] = [];

let sentinel: RedisSentinel;
let cluster: RedisCluster;

beforeAll(async () => {
  [sentinel, cluster] = await Promise.all([startRedisSentinel(), startRedisCluster()]);
}, START_MS);

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

afterAll(async () => {
  await Promise.all([sentinel.stop(), cluster.stop()]);
});

function open(options: RedisStoreOptions): RedisStore {
  const store = new RedisStore({ ...options, ...TUNING });
  opened.push(store);
  return store;
}

function viaSentinel(more: { master?: string; connectionName?: string } = {}): RedisStore {
  return open({ kind: 'sentinel', sentinels: sentinel.sentinels, master: sentinel.masterName, ...ACCESS, ...more });
}

/** Nodes that one test has taken down are coming back while the next one begins. */
async function viaCluster(): Promise<RedisStore> {
  const store = open({ kind: 'cluster', nodes: cluster.nodes.slice(0, 2), ...ACCESS });
  await eventually(() => store.connected().then(() => true), CEILING_MS);
  return store;
}

function single({ host, port }: RedisServer): RedisStore {
  return open({ kind: 'standalone', host, port, ...ACCESS });
}

/** Runs the counter until it is counted; who is told to try again does. */
async function countAgain(store: RedisStore, key: string): Promise<void> {
  await eventually(async () => Number(await store.run(COUNT, [key], [1])) > 0, CEILING_MS);
}

/** Counts as fast as it is answered. @returns how often it was */
async function countOn(store: RedisStore, key: string, until: AbortSignal): Promise<number> {
  let acknowledged = 0;
  while (!until.aborted) {
    const isCounted = await store.run(COUNT, [key], [1]).then(
      () => true,
      () => false,
    );
    if (isCounted) acknowledged += 1;
    else await pass(5);
  }
  return acknowledged;
}

/** A message gets through once the subscription is where messages are. */
async function hearAgain(store: RedisStore, heard: string[], message: string): Promise<void> {
  await eventually(async () => {
    await store.run(PUBLISH, ['t:{p}'], ['t:channel', message]);
    return heard.includes(message);
  }, CEILING_MS);
}

/** On how many sentinels a store of that name listens to all that it wants to hear. */
async function subscribersOf(name: string): Promise<number> {
  const lists = await Promise.all(sentinel.sentinels.map((one) => ask(one, (redis) => redis.client('LIST'))));
  const isListening = (line: string): boolean => line.includes(`name=${name} `) && line.includes(' sub=2 ');
  return lists.filter((list) => String(list).split('\n').some(isListening)).length;
}

describe('RedisStore on Sentinel', () => {
  it('leaves the old master of a planned failover before what it is told is lost, though it still takes commands', async () => {
    const store = viaSentinel({ connectionName: 'leaver' });
    // A replica that is not in step may be promoted too, and then more is lost.
    await eventually(async () => hasReplicas(await sentinel.master(), 2), CEILING_MS);
    // Only the sentinel that begins a failover tells so, once.
    await eventually(async () => (await subscribersOf('leaver')) === sentinel.sentinels.length);
    const heard: string[] = [];
    await store.subscribe('t:channel', (message) => heard.push(message));
    await store.run(COUNT, ['t:{m}'], [1]);
    const counting = new AbortController();
    const counted = countOn(store, 't:{m}', counting.signal);
    let old = await sentinel.master();
    await eventually(async () => {
      old = await sentinel.master();
      await sentinel.failOver();
      return true;
    }, CEILING_MS);
    await countAgain(store, 't:{m}');
    counting.abort();
    const acknowledged = await counted;
    expect(acknowledged).toBeGreaterThan(10);
    const master = await sentinel.master();
    // A second's worth would be missing; a few may have crossed with the news, which are many of a few where the machine is busy.
    expect(Number(await ask(master, (redis) => redis.get('t:{m}')))).toBeGreaterThan(0.9 * acknowledged - 10);
    await hearAgain(store, heard, 'after');
    expect(await ask(old, (redis) => redis.info('replication'))).toContain('role:master');
  }, 60_000);

  it('runs scripts on the master and follows a failover, the subscription too', async () => {
    const store = viaSentinel();
    const heard: string[] = [];
    await store.subscribe('t:channel', (message) => heard.push(message));
    expect(await store.run(COUNT, ['t:{s}'], [1])).toBe(1);
    await hearAgain(store, heard, 'before');
    const old = await sentinel.master();
    await old.crash();
    await countAgain(store, 't:{s}');
    await hearAgain(store, heard, 'after');
    expect((await sentinel.master()).port).not.toBe(old.port);
    await eventually(() => store.health().downForMs === 0);
    await old.restart();
  }, 60_000);

  it('leaves a master that is frozen, and stays away from it when it goes on and takes writes', async () => {
    const store = viaSentinel();
    await store.run(COUNT, ['t:{f}'], [1]);
    const old = await sentinel.master();
    old.freeze();
    await expect(store.run(COUNT, ['t:{f}'], [1])).rejects.toMatchObject({ isRetryable: true });
    await countAgain(store, 't:{f}');
    old.thaw();
    // Two masters: what this one is told will be gone when it hears of the other.
    expect(await ask(old, (redis) => redis.set('t:{f}', 1_000))).toBe('OK');
    expect(Number(await store.run(COUNT, ['t:{f}'], [1]))).toBeLessThan(1_000);
  }, 60_000);

  it('closes what it listens to the sentinels by', async () => {
    const store = viaSentinel({ connectionName: 'listener' });
    await eventually(async () => (await subscribersOf('listener')) === sentinel.sentinels.length);
    await store.close();
    await eventually(async () => (await subscribersOf('listener')) === 0);
  });

  it('says that no master has that name', async () => {
    await expect(viaSentinel({ master: 'nobody' }).connected()).rejects.toMatchObject({ reason: 'unknown_master' });
  });
});

describe('RedisStore on Cluster', () => {
  it('runs scripts on every master, also after SCRIPT FLUSH, and hears messages from each', async () => {
    const store = await viaCluster();
    const heard: string[] = [];
    await store.subscribe('t:channel', (message) => heard.push(message));
    const keys = Array.from({ length: 60 }, (_, index) => `t:{all-${index}}`);
    const masters = new Set(await Promise.all(keys.map(async (key) => (await cluster.masterOf(key)).port)));
    expect(masters.size).toBe(3);
    expect(await Promise.all(keys.map((key) => store.run(COUNT, [key], [1])))).toEqual(keys.map(() => 1));
    const admin = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    await new Promise((resolve) => admin.once('ready', resolve));
    await Promise.all(admin.nodes('master').map((node) => node.script('FLUSH')));
    admin.disconnect();
    expect(await Promise.all(keys.map((key) => store.run(COUNT, [key], [1])))).toEqual(keys.map(() => 2));
    await Promise.all(keys.map((key) => store.run(PUBLISH, [key], ['t:channel', key])));
    await eventually(() => heard.length === keys.length);
    expect(new Set(heard)).toEqual(new Set(keys));
    const found: string[] = [];
    for await (const names of store.scan('t:{all-*}')) found.push(...names);
    expect(found.toSorted()).toEqual(keys.toSorted());
  }, 60_000);

  it('follows a planned failover and the loss of a master', async () => {
    const store = await viaCluster();
    const heard: string[] = [];
    await store.subscribe('t:channel', (message) => heard.push(message));
    expect(await store.run(COUNT, ['t:{c}'], [1])).toBe(1);
    await cluster.failOver('t:{c}');
    await countAgain(store, 't:{c}');
    const old = await cluster.masterOf('t:{c}');
    await old.crash();
    await countAgain(store, 't:{c}');
    await hearAgain(store, heard, 'after');
    const master = await cluster.masterOf('t:{c}');
    expect(master.port).not.toBe(old.port);
    await eventually(() => store.health().downForMs === 0);
    await old.restart();
    // The next one would have nobody to fail over to.
    await eventually(() => hasReplicas(master, 1), CEILING_MS);
  }, 60_000);

  it('leaves a master that is frozen, and meets deadlines meanwhile', async () => {
    const store = await viaCluster();
    await store.run(COUNT, ['t:{z}'], [1]);
    const old = await cluster.masterOf('t:{z}');
    old.freeze();
    await expect(store.run(COUNT, ['t:{z}'], [1])).rejects.toMatchObject({ name: 'StoreTimeoutError' });
    await countAgain(store, 't:{z}');
    old.thaw();
  }, 60_000);

  it('works from a client with a key prefix that was passed in, and leaves it open', async () => {
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }));
    const client = new Cluster(nodes, { keyPrefix: 'x:' });
    const store = open({ kind: 'client', client, keyPrefix: 'y:' });
    await countAgain(store, `${store.keyPrefix}{k}`);
    expect(store).toMatchObject({ kind: 'cluster', keyPrefix: 'x:y:' });
    await store.close();
    expect(['end', 'close', 'disconnecting']).not.toContain(client.status);
    expect(await client.get('y:{k}')).toBe('1');
    client.disconnect();
  });
});

describe('RedisStore told the wrong kind of server', () => {
  it.each([
    ['a cluster node as a single server', () => single(node()), 'REDIS_CLUSTER_NODES'],
    ['a sentinel as a single server', () => single(watcher()), 'REDIS_SENTINELS'],
    ['a sentinel as a cluster', () => open({ kind: 'cluster', nodes: [watcher()], ...ACCESS }), ''],
    [
      'a single server as a cluster',
      () => open({ kind: 'cluster', nodes: [sentinel.servers[1] ?? node()], ...ACCESS }),
      'REDIS_URL',
    ],
    [
      'a single server as a sentinel',
      () => open({ kind: 'sentinel', sentinels: [sentinel.servers[1] ?? node()], master: 'm', ...ACCESS }),
      'REDIS_SENTINELS',
    ],
  ])('says so: %s', async (_, open, advice) => {
    const store = open();
    await expect(store.connected()).rejects.toMatchObject({ reason: 'wrong_topology', isRetryable: false });
    await expect(store.run(COUNT, ['t:{x}'], [1])).rejects.toThrow(advice);
  });
});

const node = (): RedisServer => firstOf(cluster.nodes);
const watcher = (): RedisServer => firstOf(sentinel.sentinels);

function firstOf(servers: readonly RedisServer[]): RedisServer {
  const [first] = servers;
  if (first === undefined) throw new Error('no server');
  return first;
}
