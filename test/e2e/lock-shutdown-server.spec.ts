import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { ROOT } from '../support/planted-project.js';
import { sized } from '../support/proof-scale.js';
import { ask } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';
import { signalTwice, type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

const PREFIX = 'server:';
const GRACE_MS = 300;
/** The lease of lock-job.mjs. */
const LEASE_MS = 2_000;
/** The grace twice (for requests, for locks), aborted work, the store's last words, connections; and a busy machine. */
const LONGEST_MS = sized(30_000, 10_000);

describe('a coordinator on Redis whose module holds a lock and waits for it', () => {
  let redis: RedisServer;
  let server: SpawnedServer;
  let told: Record<string, string>;

  beforeEach(async () => {
    redis = await startRedisServer();
  });

  afterEach(async () => {
    await server.kill();
    await redis.stop();
  });

  /** Resolves when it holds the lock and waits for it. */
  async function start(graceMs: number): Promise<void> {
    server = await spawnServer({
      environment: {
        REDIS_URL: `redis://${redis.host}:${redis.port}`,
        REDIS_KEY_PREFIX: PREFIX,
        SHUTDOWN_GRACE_MS: String(graceMs),
      },
      nodeOptions: ['--import', `${ROOT}test/support/lock-job.mjs`],
    });
    told = {};
    server.process.on('message', (message) => Object.assign(told, message));
    await eventually(async () => (await entries()).some((name) => name.endsWith(':q')));
  }

  function entries(): Promise<readonly string[]> {
    return ask(redis, (client) => client.keys(`${PREFIX}lk:*:[eqa]`));
  }

  async function connections(): Promise<number> {
    const list = String(await ask(redis, (client) => client.client('LIST')));
    return list.split('\n').filter((line) => line.includes('name=coordinator')).length;
  }

  it.each(['SIGTERM', 'SIGINT'] as const)('lets go of both on %s, then closes its connections', async (signal) => {
    await start(GRACE_MS);
    expect(await connections()).toBeGreaterThan(0);
    server.process.kill(signal);
    expect(await server.ended).toMatchObject({ code: 0, signal: null, errors: '' });
    expect(told).toMatchObject({ holder: 'released', waiter: 'LockClosedError' });
    expect(await entries()).toEqual([]);
    await eventually(async () => (await connections()) === 0);
  });

  it('leaves its lock no longer than a lease where a second signal ends it at once', async () => {
    await start(60_000);
    await signalTwice(server, 'SIGTERM');
    expect(await server.ended).toMatchObject({ code: 143, signal: null });
    expect(told['holder']).not.toBe('released');
    // Redis keeps the names of what is over for a second more; and a queue that was not left in time for ten.
    for (const name of (await entries()).filter((entry) => entry.endsWith(':e')))
      expect(await ask(redis, (client) => client.pttl(name))).toBeLessThanOrEqual(LEASE_MS + 1_000);
    await eventually(async () => (await entries()).length === 0);
  });

  it.each([
    ['is down', () => redis.crash()],
    [
      'stands still',
      () => {
        redis.freeze();
        return Promise.resolve();
      },
    ],
  ])('ends within its bound while Redis %s', async (_, fail) => {
    await start(GRACE_MS);
    await fail();
    const signalledAt = performance.now();
    server.process.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, signal: null, errors: '' });
    expect(performance.now() - signalledAt).toBeLessThan(LONGEST_MS);
    expect(told['waiter']).toBe('LockClosedError');
  });
});
