import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LockService, RedisLockStore } from '../../src/lock/index.js';
import { RedisStore } from '../../src/store/index.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let admin: Redis;
let store: RedisStore;
let locks: LockService;

beforeAll(async () => {
  server = await startRedisServer();
  const { host, port } = server;
  admin = new Redis(port, host);
  store = new RedisStore({ kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'd:' });
  locks = new LockService(new RedisLockStore(store), { graceMs: 0 });
});

afterEach(() => admin.flushall());

afterAll(async () => {
  await locks.close();
  await store.close();
  admin.disconnect();
  await server.stop();
});

describe('a lock whose keys are damaged', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['the hash is of another type', () => admin.multi().del('d:lk:{bad}').set('d:lk:{bad}', 'x').exec()],
    ['the holders are of another type', () => admin.multi().del('d:lk:{bad}:e').set('d:lk:{bad}:e', 'x').exec()],
    ['a holder has no entry', () => admin.zadd('d:lk:{bad}:e', 9e15, 'nobody')],
    ['an entry is none', () => admin.multi().zadd('d:lk:{bad}:e', 9e15, 'n').hset('d:lk:{bad}', 'e:n', 'x').exec()],
    ['a number is none', () => admin.hset('d:lk:{bad}', 'w', 'x')],
  ])('hides no other from operators, and says that another try is of no use: %s', async (_, damage) => {
    const good = await locks.acquire('good');
    const bad = await locks.acquire('bad');
    await damage();
    expect((await locks.list()).map(({ key }) => key)).toEqual(['good']);
    const fault = await locks.inspect('bad').catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: 'LockStoreError', isRetryable: false });
    expect(fault).toHaveProperty('message', expect.stringMatching(/d:lk:\{bad\}|inspect\.lua/));
    await admin.del('d:lk:{bad}', 'd:lk:{bad}:e');
    await Promise.all([good.release(), bad.release()]);
  });

  it('is no reason to list nothing where nothing may be read at all', async () => {
    const { host, port } = server;
    await admin.acl('SETUSER', 'mute', 'reset', 'on', '>pw', '~*', '&*', '+@all', '-evalsha', '-eval');
    const signIn = { username: 'mute', password: 'pw' };
    const own = new RedisStore({ ...signIn, kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'd:' });
    const lease = await locks.acquire('good');
    await expect(new RedisLockStore(own).list(10)).rejects.toMatchObject({ reason: 'no_permission' });
    await lease.release();
    await own.close();
  });
});
