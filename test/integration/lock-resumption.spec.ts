import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { ClientEnvironment } from '../../src/lock/client/client.ports.js';
import { nodeEnvironment } from '../../src/store/process/node.environment.js';
import { LockService, RedisLockStore } from '../../src/lock/index.js';
import { RedisStore } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let admin: Redis;
const stores: RedisStore[] = [];
const pods: LockService[] = [];

beforeAll(async () => {
  server = await startRedisServer();
  admin = new Redis(server.port, server.host);
});
afterEach(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.close()));
  await Promise.all(stores.splice(0).map((store) => store.close()));
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

function pod(environment?: ClientEnvironment): LockService {
  const { host, port } = server;
  const store = new RedisStore({ kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'resume:' });
  stores.push(store);
  const service = new LockService(new RedisLockStore(store), { graceMs: 0, ...(environment && { environment }) });
  pods.push(service);
  return service;
}

/** Nothing happens by itself: a wait ends by a message or not at all. */
function withoutTimers(): ClientEnvironment & { start(): void } {
  const real = nodeEnvironment();
  let hasTimers = false;
  return {
    ...real,
    after: (ms, run) => (hasTimers ? real.after(ms, run) : { cancel: () => undefined }),
    start: () => {
      hasTimers = true;
    },
  };
}

const channels = async (): Promise<readonly unknown[]> => admin.pubsub('CHANNELS', 'resume:*');

describe('a subscription that was lost and is back', () => {
  it('makes a waiter ask whether it was granted meanwhile, without waiting for its next beat', async () => {
    const environment = withoutTimers();
    const [holder, waiter] = [pod(), pod(environment)];
    const lease = await holder.acquire('k');
    const waiting = waiter.acquire('k');
    await eventually(async () => (await holder.inspect('k'))?.queued === 1);
    await eventually(async () => (await channels()).length === 2);
    // Takes the right to the channels: subscribers are cut off and can't come back, and the release can't publish its grant.
    await admin.call('ACL', 'SETUSER', 'default', 'resetchannels');
    expect(await lease.release()).toBe(true);
    expect((await holder.inspect('k'))?.holders).toMatchObject([{ state: 'granted' }]);
    await admin.call('ACL', 'SETUSER', 'default', 'allchannels');
    const next = await waiting;
    next.assertHeld();
    environment.start();
    expect(await next.release()).toBe(true);
  });
});
