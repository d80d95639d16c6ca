import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';
import { RedisStore } from '../../src/store/index.js';
import { COUNT } from '../support/counter-script.js';
import { eventually } from '../support/eventually.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { ask, hasReplicas, type RedisSentinel, startRedisSentinel } from '../support/redis-sentinel.js';
import type { RedisServer } from '../support/redis-server.js';

jest.setTimeout(90_000);

const SWITCH = '+switch-master';
const KEY = 't:{x}';

let redis: RedisSentinel;
/** One before each sentinel. */
let proxies: readonly FaultProxy[];
let store: RedisStore;
const notices: string[] = [];

beforeAll(async () => {
  redis = await startRedisSentinel();
});
beforeEach(async () => {
  proxies = await Promise.all(redis.sentinels.map((target) => startFaultProxy({ target })));
  store = new RedisStore({
    ...{ kind: 'sentinel', sentinels: proxies, master: redis.masterName, db: 0, tls: false, keyPrefix: 't:' },
    ...{ commandTimeoutMs: 400, heartbeatMs: 100, notify: (notice) => notices.push(notice) },
  });
  await eventually(async () => (await Promise.all(redis.sentinels.map(isListenedTo))).every(Boolean));
});
afterEach(async () => {
  await store.close();
  await Promise.all(proxies.map((proxy) => proxy.close()));
});
afterAll(() => redis.stop());

async function isListenedTo(sentinel: RedisServer): Promise<boolean> {
  return String(await ask(sentinel, (client) => client.client('LIST'))).includes(' sub=2 ');
}

/** Another master, of which the old one never hears: it takes writes for as long as anybody writes. */
async function failOverBehindItsBack(): Promise<void> {
  const old = await redis.master();
  await eventually(() => hasReplicas(old, 2));
  await ask(old, (client) => client.acl('SETUSER', 'default', '-slaveof', '-replicaof'));
  await eventually(() => redis.failOver().then(() => true));
}

async function isCountedOnMaster(): Promise<boolean> {
  const counted = Number(await store.run(COUNT, [KEY], [1]));
  return Number(await ask(await redis.master(), (client) => client.get(KEY))) === counted;
}

it('goes to the next master though every connection to a sentinel broke as it told of it', async () => {
  await eventually(isCountedOnMaster);
  for (const proxy of proxies) {
    proxy.onMessage(([, channel]) => channel !== SWITCH, 'drop');
    void proxy
      .onMessage(([, channel]) => channel === SWITCH, 'drop')
      .met.then(() => {
        proxy.cut();
      });
  }
  await failOverBehindItsBack();
  await eventually(isCountedOnMaster);
  expect(notices).toEqual([]);
});

it('listens where it may not ask, and says once what that means', async () => {
  const sentinels = await Promise.all(redis.sentinels.map((sentinel) => ask(sentinel, withoutMaster)));
  expect(sentinels).toEqual(['OK', 'OK', 'OK']);
  for (const proxy of proxies) proxy.cut();
  await eventually(() => notices.length > 0);
  await eventually(async () => (await Promise.all(redis.sentinels.map(isListenedTo))).every(Boolean));
  await eventually(isCountedOnMaster);
  expect(notices).toEqual([expect.stringContaining('+sentinel|master')]);
});

function withoutMaster(client: Redis): Promise<unknown> {
  return client.acl('SETUSER', 'default', '-sentinel|master');
}
