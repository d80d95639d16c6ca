import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { CLIENT_RULES } from '../../src/lock/client/client.rules.js';
import { LOCK_LIMITS } from '../../src/lock/lock.limits.js';
import { loadLockScripts } from '../../src/lock/lock.scripts.js';
import { RedisLockStore } from '../../src/lock/redis-lock.store.js';
import { RedisStore } from '../../src/store/index.js';
import { describeLockStore } from '../contract/lock-store.contract.js';
import { acquire, beat, leave, redisBench, type RedisBench } from '../support/lock-bench.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** On an empty server, under a prefix of its own. */
async function start(): Promise<RedisBench> {
  benches += 1;
  const bench = await redisBench(server, `t${benches}[*]|:`);
  opened.push(bench);
  await bench.client.flushall();
  return bench;
}

describeLockStore('RedisLockStore', start);

describe('the scripts of a lock', () => {
  it('have a header that is what they do', () => {
    const scripts = loadLockScripts();
    expect(Object.values(scripts).map(({ name, numberOfKeys }) => [name, numberOfKeys])).toEqual([
      ['acquire', 5],
      ['beat', 4],
      ['leave', 5],
      ['revoke', 4],
      ['inspect', 4],
    ]);
  });

  it('go by the numbers of LOCK_LIMITS', () => {
    const prelude = readFileSync(new URL('../../src/lock/scripts/prelude.lua', import.meta.url), 'utf8');
    const numbers = new Map<string, number>();
    for (const [, names = '', values = ''] of prelude.matchAll(/^local ([A-Z_, ]+) = ([\d, ]+)$/gm)) {
      const list = values.split(', ').map(Number);
      names.split(', ').forEach((name, index) => numbers.set(name, list[index] ?? Number.NaN));
    }
    expect(Object.fromEntries(numbers)).toEqual({
      GRANT_MS: LOCK_LIMITS.grantMs,
      ALIVE_MS: LOCK_LIMITS.aliveMs,
      GAP_MS: LOCK_LIMITS.gapMs,
      DAMP_MS: LOCK_LIMITS.dampMs,
      MEMORY_MS: LOCK_LIMITS.memoryMs,
      QUEUE_MS: LOCK_LIMITS.queueMs,
      SLACK_MS: LOCK_LIMITS.slackMs,
      ROUNDS: LOCK_LIMITS.rounds,
    });
  });

  it('let no process that beats be taken for dead, whatever gap is counted', () => {
    expect(LOCK_LIMITS.gapMs).toBeGreaterThan(CLIENT_RULES.beatMs);
    expect(LOCK_LIMITS.gapMs).toBeLessThan(LOCK_LIMITS.aliveMs - CLIENT_RULES.beatMs);
  });
});

describe('the keys of a lock', () => {
  const names = async ({ client, redis }: RedisBench): Promise<readonly string[]> =>
    (await client.keys('*'))
      .filter((name) => name.includes('lk:'))
      .map((name) => name.slice(redis.keyPrefix.length))
      .sort();

  it('are a hash and a set while held, and a hash of two fields at rest', async () => {
    const bench = await start();
    await acquire(bench.store, 'p1-1', { leaseMs: 5_000 });
    expect(await names(bench)).toEqual(['lk:{k}', 'lk:{k}:e']);
    expect(bench.redis.lives).toEqual([66_000, 6_000, -2, -2, -2].map((life) => aboutThat(life)));
    await leave(bench.store, 'p1-1');
    expect(await names(bench)).toEqual(['lk:{k}']);
    expect(bench.redis.lives).toEqual([60_000, -2, -2, -2, -2].map((life) => aboutThat(life)));
    const { us } = bench.clock;
    expect(await bench.client.hgetall(`${bench.redis.keyPrefix}lk:{k}`)).toEqual({ c: String(us), x: String(us) });
  });

  it('all end by themselves, also those of a queue and of a buried token', async () => {
    const bench = await start();
    await acquire(bench.store, 'p1-1', { leaseMs: 5_000 });
    await acquire(bench.store, 'p2-1');
    expect(bench.redis.lives).toEqual([71_000, 11_000, 11_000, 11_000, -2].map((life) => aboutThat(life)));
    await leave(bench.store, 'p3-1', { tombstoneMs: 60_000 });
    expect(bench.redis.lives).toEqual([71_000, 11_000, 11_000, 11_000, 60_000].map((life) => aboutThat(life)));
  });

  it('are none for a lock that was never held', async () => {
    const bench = await start();
    await leave(bench.store, 'p1-1');
    await beat(bench.store, ['p1-1'], ['p1-2']);
    await bench.store.revoke({ key: 'k', token: undefined, mode: 'now' });
    await bench.store.inspect('k');
    expect(await names(bench)).toEqual([]);
  });

  it('are not met again when the hash was lost', async () => {
    const bench = await start();
    await acquire(bench.store, 'p1-1');
    await acquire(bench.store, 'p2-1');
    await bench.client.del(`${bench.redis.keyPrefix}lk:{k}`);
    expect(await acquire(bench.store, 'p3-1')).toMatchObject({ kind: 'granted' });
    expect(await names(bench)).toEqual(['lk:{k}', 'lk:{k}:e']);
  });

  it('forget processes that have been silent for long', async () => {
    const bench = await start();
    await acquire(bench.store, 'p1-1', { leaseMs: 600_000 });
    await acquire(bench.store, 'p2-1');
    await acquire(bench.store, 'p3-1');
    for (let beats = 0; beats < 100; beats += 1) {
      bench.clock.us += 650_000;
      await beat(bench.store, ['p3-1']);
    }
    expect(await bench.client.zrange(`${bench.redis.keyPrefix}lk:{k}:a`, 0, -1)).toEqual(['p3']);
  });

  it('of one prefix are nothing to another, nor are its messages', async () => {
    const bench = await start();
    const other = await redisBench(server, 'other:', bench.clock);
    opened.push(other);
    await acquire(bench.store, 'p1-1');
    expect(await acquire(other.store, 'p1-1')).toMatchObject({ kind: 'granted' });
    await acquire(other.store, 'p2-1');
    await leave(other.store, 'p1-1');
    expect((await bench.store.list(10)).map(({ key }) => key)).toEqual(['k']);
    expect(await other.heard()).toHaveLength(1);
    expect(await bench.heard()).toEqual([]);
  });
});

describe('RedisLockStore over a connection of its own, in the time of the server', () => {
  it('takes, waits, is told, renews and lists', async () => {
    const { host, port } = server;
    const redis = new RedisStore({ kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'real:' });
    opened.push(redis);
    const store = new RedisLockStore(redis);
    const told = new EventEmitter();
    await store.subscribe('p2', (message) => told.emit('message', message));
    const message = once(told, 'message');
    const before = Date.now() * 1_000;
    const first = await acquire(store, 'p1-1');
    expect(first.kind === 'granted' && first.fence >= before - 1_000_000).toBe(true);
    expect(await acquire(store, 'p2-1')).toMatchObject({ kind: 'queued' });
    expect((await store.list(10)).map(({ key }) => key)).toEqual(['k']);
    await leave(store, 'p1-1');
    expect(await message).toMatchObject([{ kind: 'grant', key: 'k', token: 'p2-1', leaseMs: 2_000 }]);
    expect(await beat(store, [], ['p2-1'])).toMatchObject({ renewals: ['renewed'] });
    await leave(store, 'p2-1');
    expect(await store.list(10)).toEqual([]);
    await store.unsubscribe('p2');
  });
});

describe('the messages of a lock', () => {
  it('may be refused by the server without harm: a beat finds the grant', async () => {
    const bench = await start();
    await bench.client.call('ACL', 'SETUSER', 'quiet', 'on', '>secret', '~*', 'resetchannels', '+@all');
    await acquire(bench.store, 'p1-1');
    await acquire(bench.store, 'p2-1');
    await bench.client.call('AUTH', 'quiet', 'secret');
    expect(await leave(bench.store, 'p1-1')).toBe('holder');
    await bench.client.call('AUTH', 'default', '');
    expect(await bench.heard()).toEqual([]);
    expect((await beat(bench.store, ['p2-1'])).waiters).toMatchObject([{ kind: 'granted' }]);
  });

  it('are ignored where somebody else sent them', async () => {
    const bench = await start();
    for (const text of ['', 'G|p1-1|5|2000|elsewhere', 'X|a|1|2|t', 'G|p1-1|x|2000|lk:{k}']) {
      await bench.client.publish(`${bench.redis.keyPrefix}lk:p1`, text);
    }
    expect(await bench.heard()).toEqual([]);
  });
});

/** Real time passes while a test looks. */
function aboutThat(life: number): unknown {
  if (life < 0) return life;
  return { asymmetricMatch: (seen: unknown) => typeof seen === 'number' && seen <= life && seen > life - 900 };
}
