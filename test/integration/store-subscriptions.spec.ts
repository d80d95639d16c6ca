import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { PUBLISH } from '../support/counter-script.js';
import { eventually } from '../support/eventually.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { startRedisServer } from '../support/redis-server.js';
import { storeBench, TIMEOUT_MS } from '../support/store-bench.js';

const bench = storeBench();
const open = bench.open.bind(bench);

describe('RedisStore.subscribe()', () => {
  it('has the subscription when it resolves, and gives messages by channel', async () => {
    const store = open();
    const heard: string[] = [];
    await store.subscribe('t:one', (message) => heard.push(`one ${message}`));
    await store.subscribe('t:two', (message) => heard.push(`two ${message}`));
    expect(await store.run(PUBLISH, ['t:{p}'], ['t:one', 'a'])).toBe(1);
    expect(await store.run(PUBLISH, ['t:{p}'], ['t:two', 'b'])).toBe(1);
    expect(await store.run(PUBLISH, ['t:{p}'], ['t:three', 'c'])).toBe(0);
    await eventually(() => heard.length === 2);
    expect(heard).toEqual(['one a', 'two b']);
  });

  it('ends a channel with its last receiver, and leaves none behind after many', async () => {
    const store = open();
    const channels = async (): Promise<unknown> => bench.admin.pubsub('CHANNELS', 't:*');
    const heard: string[] = [];
    const first = (): unknown => heard.push('first');
    const second = (): unknown => heard.push('second');
    await store.subscribe('t:shared', first);
    await store.subscribe('t:shared', second);
    await store.unsubscribe('t:shared', first);
    expect(await store.run(PUBLISH, ['t:{p}'], ['t:shared', 'a'])).toBe(1);
    await eventually(() => heard.length > 0);
    expect(heard).toEqual(['second']);
    await store.unsubscribe('t:shared', second);
    await Promise.all(
      Array.from({ length: 300 }, async (_, index) => {
        await store.subscribe(`t:${index}`, () => undefined);
        await store.unsubscribe(`t:${index}`);
      }),
    );
    expect(await channels()).toEqual([]);
    const clients = String(await bench.admin.client('LIST'));
    expect(clients.split('\n').filter((line) => line.includes('name=coordinator'))).toHaveLength(2);
  });

  it('keeps a channel that is taken again while it is given up', async () => {
    const store = open();
    const heard: string[] = [];
    await store.subscribe('t:again', () => undefined);
    const leaving = store.unsubscribe('t:again');
    await store.subscribe('t:again', (message) => heard.push(message));
    await leaving;
    expect(await store.run(PUBLISH, ['t:{p}'], ['t:again', 'here'])).toBe(1);
    await eventually(() => heard.length === 1);
  });

  it('survives CLIENT KILL and a restart of the server, and says that it was away', async () => {
    const own = await startRedisServer();
    const store = open({ port: own.port });
    let returns = 0;
    const heard: string[] = [];
    await store.subscribe(
      't:kept',
      (message) => heard.push(message),
      () => {
        returns += 1;
      },
    );
    const killer = new Redis({ port: own.port });
    killer.on('error', () => undefined);
    await killer.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(() => returns === 1);
    expect(await store.run(PUBLISH, ['t:{p}'], ['t:kept', 'a'])).toBe(1);
    // The publisher's answer may be out before the message is.
    await eventually(() => heard.length === 1);
    await own.crash();
    await own.restart();
    await eventually(() => returns === 2);
    await eventually(async () => (await store.run(PUBLISH, ['t:{p}'], ['t:kept', 'b'])) === 1);
    await eventually(() => heard.length === 2);
    expect(heard).toEqual(['a', 'b']);
    killer.disconnect();
    await own.stop();
  });

  it('fails within its deadline while the server is frozen, and is then not subscribed', async () => {
    const store = open({ commandTimeoutMs: TIMEOUT_MS });
    await eventually(() => store.subscribe('t:before', () => undefined).then(() => true));
    bench.server.freeze();
    await expect(store.subscribe('t:late', () => undefined)).rejects.toMatchObject({ isRetryable: true });
    bench.server.thaw();
    await eventually(async () => (await store.run(PUBLISH, ['t:{p}'], ['t:before', 'x'])) === 1);
    await eventually(async () => JSON.stringify(await bench.admin.pubsub('CHANNELS', 't:*')) === '["t:before"]');
  });

  it('is not subscribed after it has failed while the first connection was being made', async () => {
    const proxy = await startFaultProxy({ target: bench.server });
    const store = open({ port: proxy.port, commandTimeoutMs: TIMEOUT_MS });
    proxy.onCommand(([name]) => name === 'subscribe', { delayReplyMs: TIMEOUT_MS * 1.5 });
    await expect(store.subscribe('t:late', () => undefined)).rejects.toMatchObject({ isRetryable: true });
    await eventually(() => store.subscribe('t:next', () => undefined).then(() => true));
    expect(await bench.admin.pubsub('CHANNELS', 't:*')).toEqual(['t:next']);
    await store.close();
    await proxy.close();
  });
});
