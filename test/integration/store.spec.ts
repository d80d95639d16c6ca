import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  RedisStore,
  StoreConfigurationError,
  StoreTimeoutError,
  StoreUnavailableError,
} from '../../src/store/index.js';
import { COUNT } from '../support/counter-script.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer } from '../support/redis-server.js';
import { PATIENT_MS, storeBench, TIMEOUT_MS } from '../support/store-bench.js';

const bench = storeBench();
const open = bench.open.bind(bench);

describe('RedisStore.run()', () => {
  it('runs a script at once after it was made, and again', async () => {
    const store = open();
    expect(await store.run(COUNT, ['t:{run}'], [2])).toBe(2);
    expect(await store.run(COUNT, ['t:{run}'], [3])).toBe(5);
    expect(store.health()).toEqual({ kind: 'redis', policy: 'refuse', downForMs: 0 });
  });

  it('needs one round trip for a known script, and two after SCRIPT FLUSH', async () => {
    const store = open();
    await store.run(COUNT, ['t:{flush}'], [1]);
    await bench.admin.config('RESETSTAT');
    await bench.admin.script('FLUSH');
    expect(await store.run(COUNT, ['t:{flush}'], [1])).toBe(2);
    expect(await store.run(COUNT, ['t:{flush}'], [1])).toBe(3);
    const stats = await bench.admin.info('commandstats');
    expect(stats).toMatch(/cmdstat_evalsha:calls=2/);
    expect(stats).toMatch(/cmdstat_eval:calls=1/);
  });

  it('settles by the deadline while the server is frozen, and goes on with the right answers afterwards', async () => {
    const store = open({ commandTimeoutMs: TIMEOUT_MS });
    await eventually(async () => (await store.run(COUNT, ['t:{frozen}'], [0])) === 0);
    bench.server.freeze();
    const error = await store.run(COUNT, ['t:{frozen}'], [10]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreTimeoutError);
    expect(error).toMatchObject({
      code: 'store_unavailable',
      isRetryable: true,
      mayHaveRun: true,
      timeoutMs: TIMEOUT_MS,
    });
    expect(store.health().downForMs).toBeGreaterThan(0);
    bench.server.thaw();
    // The one that came too late may have been applied, or may have gone with its connection.
    await eventually(async () => [0, 10].includes(Number(await store.run(COUNT, ['t:{frozen}'], [0]))));
    const before = Number(await bench.admin.get('t:{frozen}'));
    await eventually(async () => (await store.run(COUNT, ['t:{frozen}'], [0])) === before);
    expect(store.health().downForMs).toBe(0);
  });

  it('fails at once while the server is away, applies nothing later, and comes back by itself', async () => {
    const own = await startRedisServer();
    const store = open({ port: own.port });
    await store.run(COUNT, ['t:{away}'], [1]);
    await own.crash();
    await eventually(async () => (await store.run(COUNT, ['t:{away}'], [100]).catch(() => 'refused')) === 'refused');
    const startedAt = performance.now();
    const errors = await Promise.all(
      Array.from({ length: 50 }, () => store.run(COUNT, ['t:{away}'], [100]).catch((error: unknown) => error)),
    );
    // The deadline of a command, of which nobody waits for the end.
    expect(performance.now() - startedAt).toBeLessThan(PATIENT_MS / 2);
    for (const error of errors) expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(errors[0]).toMatchObject({ isRetryable: true, mayHaveRun: false });
    expect(store.health().downForMs).toBeGreaterThan(0);
    await own.restart();
    await eventually(() => store.health().downForMs === 0);
    // A ghost of the hundreds would show.
    expect(await store.run(COUNT, ['t:{away}'], [1])).toBe(1);
    await own.stop();
  });

  it('settles what is under way when its connection is cut', async () => {
    const store = open();
    await store.run(COUNT, ['t:{cut}'], [1]);
    await bench.admin.call('CLIENT', 'PAUSE', '150', 'ALL');
    const pending = store.run(COUNT, ['t:{cut}'], [1]).catch((error: unknown) => error);
    await bench.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    const outcome = await pending;
    if (outcome !== 2) expect(outcome).toMatchObject({ code: 'store_unavailable', isRetryable: true });
    await eventually(async () => Number(await store.run(COUNT, ['t:{cut}'], [1])) >= 2);
  });

  it('says that a script failed, where and why, and that another try would too', async () => {
    const store = open();
    const fault = await store.run(COUNT, ['t:{fault}'], ['no number']).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(StoreConfigurationError);
    expect(fault).toMatchObject({ reason: 'script_failed', isRetryable: false, mayHaveRun: true });
    expect(fault).toHaveProperty('message', expect.stringContaining('t:{fault}'));
    expect(fault).toHaveProperty('cause.cause.message', expect.stringContaining('not an integer'));
    expect(store.health().downForMs).toBe(0);
  });

  it('refuses after close()', async () => {
    const store = open();
    await store.run(COUNT, ['t:{closed}'], [1]);
    await store.close();
    await expect(store.run(COUNT, ['t:{closed}'], [1])).rejects.toBeInstanceOf(StoreUnavailableError);
  });
});

describe('RedisStore, what somebody must change', () => {
  it('names the key that holds something else', async () => {
    await bench.admin.hset('t:{hash}', 'a', '1');
    const failing = open().run(COUNT, ['t:{hash}'], [1]);
    await expect(failing).rejects.toBeInstanceOf(StoreConfigurationError);
    await expect(failing).rejects.toMatchObject({ reason: 'wrong_type', isRetryable: false });
    await expect(failing).rejects.toThrow('"t:{hash}"');
  });

  it('refuses keys without one hash tag, on a single server too', async () => {
    const both = { ...COUNT, numberOfKeys: 2 };
    await expect(open().run(both, ['t:{a}', 't:{b}'], [1])).rejects.toMatchObject({ reason: 'cross_slot' });
    await expect(open().run(COUNT, [], [1])).rejects.toBeInstanceOf(TypeError);
  });

  it('says which password is wrong', async () => {
    const own = await startRedisServer(['--requirepass', 'right']);
    for (const options of [{}, { password: 'wrong' }]) {
      const store = open({ port: own.port, ...options });
      await expect(store.connected()).rejects.toMatchObject({ reason: 'wrong_password', isRetryable: false });
      await expect(store.run(COUNT, ['t:{x}'], [1])).rejects.toMatchObject({ reason: 'wrong_password' });
    }
    expect(await open({ port: own.port, password: 'right' }).run(COUNT, ['t:{x}'], [1])).toBe(1);
    await own.stop();
  });

  it('tells a server that is not there from one that is wrong', async () => {
    const own = await startRedisServer();
    await own.stop();
    await expect(open({ port: own.port, commandTimeoutMs: TIMEOUT_MS }).connected()).rejects.toBeInstanceOf(
      StoreUnavailableError,
    );
  });

  it('notices an eviction policy that may delete locks, and works', async () => {
    const own = await startRedisServer(['--maxmemory-policy', 'allkeys-lru']);
    const notices: string[] = [];
    const store = new RedisStore({
      ...{ kind: 'standalone', host: own.host, port: own.port, db: 0, tls: false, keyPrefix: 't:' },
      notify: (notice) => notices.push(notice),
    });
    bench.keep(store);
    expect(await store.run(COUNT, ['t:{x}'], [1])).toBe(1);
    expect(notices).toEqual([expect.stringContaining('noeviction')]);
    await store.close();
    await own.stop();
  });
});

describe('RedisStore from a client that was passed in', () => {
  it('keeps to its key prefix, opens its own connections and leaves the client alone', async () => {
    const client = new Redis({ port: bench.server.port, host: bench.server.host, keyPrefix: 'x:' });
    const store = new RedisStore({ kind: 'client', client, keyPrefix: 'y:' });
    expect(store).toMatchObject({ kind: 'standalone', keyPrefix: 'x:y:' });
    expect(await store.run(COUNT, [`${store.keyPrefix}{k}`], [1])).toBe(1);
    expect(await bench.admin.get('x:y:{k}')).toBe('1');
    await store.close();
    expect(client.status).toBe('ready');
    expect(await client.get('y:{k}')).toBe('1');
    client.disconnect();
  });
});

describe('RedisStore.scan()', () => {
  it('finds each key once, and goes no further than it is read', async () => {
    const store = open({ keyPrefix: 's:' });
    for (let index = 0; index < 1_200; index += 1) await bench.admin.set(`s:{${index}}`, '1');
    const all = await namesOf(store.scan('s:{*}'));
    expect(new Set(all).size).toBe(1_200);
    expect(all).toHaveLength(1_200);
    expect(await namesOf(store.scan('none:*'))).toEqual([]);
    await bench.admin.config('RESETSTAT');
    for await (const names of store.scan('s:{*}')) if (names.length > 0) break;
    expect(await bench.admin.info('commandstats')).toContain('cmdstat_scan:calls=1,');
    await bench.admin.flushall();
  });

  async function namesOf(scan: AsyncIterable<readonly string[]>): Promise<readonly string[]> {
    const all: string[] = [];
    for await (const names of scan) all.push(...names);
    return all;
  }
});

describe('RedisStore.close()', () => {
  it('leaves no connection, also of a frozen server', async () => {
    const store = open({ commandTimeoutMs: TIMEOUT_MS });
    await eventually(() => store.subscribe('t:x', () => undefined).then(() => true));
    await eventually(() => store.run(COUNT, ['t:{x}'], [1]).then(() => true));
    bench.server.freeze();
    await store.close();
    bench.server.thaw();
    await eventually(async () => !String(await bench.admin.client('LIST')).includes('name=coordinator'));
  });
});
