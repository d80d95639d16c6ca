import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { eventually } from '../support/eventually.js';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let admin: Redis;
let proxy: FaultProxy;
let client: Redis;
let subscriber: Redis;

beforeAll(async () => {
  server = await startRedisServer();
  admin = new Redis(server.port, server.host);
});
beforeEach(async () => {
  await admin.flushall();
  proxy = await startFaultProxy({ target: server });
  [client, subscriber] = [1, 2].map(() =>
    new Redis({
      host: proxy.host,
      port: proxy.port,
      retryStrategy: null,
      maxRetriesPerRequest: 0,
      disconnectTimeout: 50,
    }).on('error', () => undefined),
  ) as [Redis, Redis];
});
afterEach(async () => {
  client.disconnect();
  subscriber.disconnect();
  await proxy.close();
  expect(proxy.connections).toBe(0);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const isIncrement = ([name]: readonly string[]): boolean => name === 'incr';
const silent = (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([promise.catch(() => 'failed'), new Promise((resolve) => setTimeout(resolve, 100, 'silence'))]);

describe('startFaultProxy()', () => {
  it('passes everything on, whole and in order, where there is no rule', async () => {
    const text = 'é🔒\r\n'.repeat(50_000);
    const replies = Promise.all([
      client.set('k', text),
      client.get('k'),
      client.mget('k', 'none'),
      client.lpush('l', ''),
      client.lrange('l', 0, -1),
      ...Array.from({ length: 500 }, () => client.incr('n')),
    ]);
    const numbers = Array.from({ length: 500 }, (_, index) => index + 1);
    expect(await replies).toEqual(['OK', text, [text, null], 1, [''], ...numbers]);
  });

  it.each([
    ['cut before', '0', 'failed'],
    ['cut after', '1', 'failed'],
    ['silence before', '0', 'silence'],
    ['silence after', '1', 'silence'],
  ] as const)('does a %s', async (fault, value, outcome) => {
    await client.set('n', '0');
    const rule = proxy.onCommand(isIncrement, fault);
    expect(await silent(client.incr('n'))).toBe(outcome);
    await rule.met;
    await eventually(async () => (await admin.get('n')) === value);
    const other = new Redis(proxy.port, proxy.host);
    expect(await other.incr('n')).toBe(Number(value) + 1);
    expect(rule.hits).toBe(1);
    other.disconnect();
  });

  it('delays a command, or its reply, and what follows', async () => {
    proxy.onCommand(isIncrement, { delayMs: 60 });
    const order: string[] = [];
    await Promise.all(
      [client.incr('n'), client.get('n')].map((reply, index) => reply.then(() => order.push(`${index}`))),
    );
    expect(order).toEqual(['0', '1']);
    proxy.onCommand(isIncrement, { delayReplyMs: 200 });
    const late = client.incr('n');
    await eventually(async () => (await admin.get('n')) === '2');
    expect(await silent(late)).toBe('silence');
    expect(await late).toBe(2);
  });

  it('drops, doubles and delays messages, and leaves the replies of subscriptions alone', async () => {
    const heard: string[] = [];
    subscriber.on('message', (_channel, text: string) => heard.push(text));
    proxy.onMessage(([, , text]) => text === 'lost', 'drop');
    proxy.onMessage(([, , text]) => text === 'two', 'twice', 1);
    expect(await subscriber.subscribe('a', 'b')).toBe(2);
    for (const text of ['one', 'lost', 'two', 'two']) await admin.publish('b', text);
    await eventually(() => heard.length === 4);
    expect(heard).toEqual(['one', 'two', 'two', 'two']);
    expect(await subscriber.unsubscribe('a')).toBe(1);
    expect(await subscriber.ping()).toBeTruthy();
  });

  it('counts what passes, and forgets rules', async () => {
    const seen = proxy.watch(isIncrement);
    const rule = proxy.onCommand(isIncrement, 'cut after', Infinity);
    rule.remove();
    await client.incr('n');
    proxy.onCommand(isIncrement, 'cut after');
    proxy.clear();
    expect(await client.incr('n')).toBe(2);
    expect(seen.hits).toBe(1);
  });

  it('is down, and up again on its port', async () => {
    await client.ping();
    const { port } = proxy;
    await proxy.refuse();
    await eventually(() => client.status === 'end');
    await expect(client.connect()).rejects.toThrow();
    await proxy.accept();
    expect(proxy.port).toBe(port);
    await client.connect();
    expect(await client.ping()).toBe('PONG');
  });

  it('partitions: nothing passes, new connections included, until it heals', async () => {
    await client.ping();
    proxy.partition();
    expect(await silent(client.incr('n'))).toBe('silence');
    const late = new Redis({ host: proxy.host, port: proxy.port, retryStrategy: null, disconnectTimeout: 50 });
    late.on('error', () => undefined);
    expect(await silent(late.incr('n'))).toBe('silence');
    proxy.heal();
    proxy.cut();
    await client.connect().catch(() => undefined);
    expect(await admin.get('n')).toBeNull();
    late.disconnect();
  });
});
