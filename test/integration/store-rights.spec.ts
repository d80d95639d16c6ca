import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { type Lease, LockService, RedisLockStore } from '../../src/lock/index.js';
import { RedisStore, type RedisStoreOptions } from '../../src/store/index.js';
import { COUNT } from '../support/counter-script.js';
import { eventually } from '../support/eventually.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

/** The line in docs/locks.md, which is run as it stands there. */
const DOCUMENTED = /^ *ACL SETUSER .*$/m;

let server: RedisServer;
let admin: Redis;
const opened: RedisStore[] = [];
const notices: string[] = [];

beforeAll(async () => {
  server = await startRedisServer();
  admin = new Redis(server.port, server.host);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  notices.splice(0);
  await admin.flushall();
  await admin.acl('LOG', 'RESET');
});

afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

function open(options: { db?: number; username?: string; password?: string } = {}): RedisStore {
  const all: RedisStoreOptions = {
    ...{ kind: 'standalone', host: server.host, port: server.port, db: 0, tls: false, keyPrefix: 'shop:' },
    ...options,
    ...{ commandTimeoutMs: 400, heartbeatMs: 50, notify: (notice) => notices.push(notice) },
  };
  const store = new RedisStore(all);
  opened.push(store);
  return store;
}

/** Words of the documented line, with our prefix. */
function documentedRights(): readonly string[] {
  const line = DOCUMENTED.exec(readFileSync(new URL('../../docs/locks.md', import.meta.url), 'utf8'))?.[0];
  if (line === undefined) throw new Error('docs/locks.md has no line "ACL SETUSER …"');
  return line.replace('<password>', 'pw').replaceAll('coordinator:', 'shop:').trim().split(' ').slice(2);
}

async function everythingWith(store: RedisStore): Promise<void> {
  const [one, two] = [new LockService(new RedisLockStore(store)), new LockService(new RedisLockStore(store))];
  const first = await one.acquire('k', { leaseMs: 300 });
  const second: Promise<Lease> = two.acquire('k');
  await eventually(async () => (await one.inspect('k'))?.queued === 1);
  expect((await one.list()).map(({ key }) => key)).toEqual(['k']);
  await first.extend(5_000);
  await first.release();
  const next = await second;
  expect(await one.tryAcquire('k')).toBeUndefined();
  expect(await one.forceRelease('k')).toBe(1);
  await eventually(() => next.signal.aborted);
  await Promise.all([one.close(), two.close()]);
}

describe('a database that is not the first', () => {
  it('is the one that is used', async () => {
    expect(await open({ db: 3 }).run(COUNT, ['shop:{db}'], [1])).toBe(1);
    expect(await admin.dbsize()).toBe(0);
    expect(await admin.info('keyspace')).toContain('db3:keys=1');
  });

  it.each([99, 2 ** 31 - 1])('is never taken for the first where it is not there: %i', async (db) => {
    const store = open({ db });
    await expect(store.connected()).rejects.toMatchObject({ reason: 'wrong_database', isRetryable: false });
    await expect(store.run(COUNT, ['shop:{db}'], [1])).rejects.toThrow('REDIS_DB');
    expect(store.health().downForMs).toBeGreaterThan(0);
    expect(store.health().reason).toBe('wrong_database');
    expect(await admin.info('keyspace')).not.toContain('keys=');
  });

  it('is never taken for the first where the user may not choose it', async () => {
    await admin.acl('SETUSER', 'fixed', 'reset', 'on', '>pw', '~*', '&*', '+@all', '-select');
    const signIn = { username: 'fixed', password: 'pw' };
    const store = open({ ...signIn, db: 3 });
    await expect(store.connected()).rejects.toMatchObject({ reason: 'no_permission', isRetryable: false });
    await expect(store.run(COUNT, ['shop:{db}'], [1])).rejects.toThrow(/SELECT.*REDIS_DB/);
    expect(await open(signIn).run(COUNT, ['shop:{first}'], [1])).toBe(1);
    expect(await admin.info('keyspace')).toContain('db0:keys=1,');
  });

  it('is used as soon as the user may', async () => {
    await admin.acl('SETUSER', 'late', 'reset', 'on', '>pw', '~*', '&*', '+@all', '-select');
    const store = open({ username: 'late', password: 'pw', db: 3 });
    await expect(store.connected()).rejects.toMatchObject({ reason: 'no_permission' });
    await admin.acl('SETUSER', 'late', '+select');
    await eventually(async () => (await store.run(COUNT, ['shop:{db}'], [1]).catch(() => 0)) === 1);
    expect(store.health()).toEqual({ kind: 'redis', policy: 'refuse', downForMs: 0 });
  });
});

describe('the documented ACL', () => {
  it('allows all that locks do, and nothing of it is refused', async () => {
    const [user = '', ...rights] = documentedRights();
    await admin.acl('SETUSER', user, ...rights);
    await everythingWith(open({ username: user, password: 'pw', db: 1 }));
    expect(notices).toEqual([]);
    expect(await admin.acl('LOG')).toEqual([]);
  });

  it('may be narrower by what only helps operators: one notice, and everything works', async () => {
    const [user = '', ...rights] = documentedRights();
    const more = ['-info', '-ping', '-client|setname', '-select'];
    await admin.acl('SETUSER', user, ...rights, ...more);
    const store = open({ username: user, password: 'pw' });
    await everythingWith(store);
    await admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await everythingWith(store);
    expect(notices).toEqual([expect.stringContaining('INFO')]);
    expect(store.health().downForMs).toBe(0);
  });

  it('allows the same in a cluster, with what is said of it', async () => {
    const cluster = await startRedisCluster();
    const [user = '', ...rights] = documentedRights();
    const admins = cluster.nodes.map(({ host, port }) => new Redis(port, host));
    for (const node of admins) await node.acl('SETUSER', user, ...rights, '+cluster|slots', '+cluster|info');
    const store = new RedisStore({
      ...{ kind: 'cluster', nodes: cluster.nodes, db: 0, tls: false, keyPrefix: 'shop:' },
      ...{ username: user, password: 'pw', notify: (notice) => notices.push(notice) },
    });
    opened.push(store);
    await everythingWith(store);
    await store.close();
    expect(notices).toEqual([]);
    for (const node of admins) {
      expect(await node.acl('LOG')).toEqual([]);
      node.disconnect();
    }
    await cluster.stop();
  });
});
