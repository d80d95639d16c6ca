import { afterEach, describe, expect, it } from '@jest/globals';
import { type Address, RedisStore } from '../../src/store/index.js';
import { COUNT, PUBLISH } from '../support/counter-script.js';
import { eventually } from '../support/eventually.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { ask, hasReplicas, REPLICATION } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function start(words: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedisServer([...REPLICATION, ...words]);
  endings.push(() => server.stop());
  return server;
}

function open({ host, port }: Address, user: { username?: string; password?: string } = {}): RedisStore {
  const access = { db: 0, tls: false, keyPrefix: 't:', commandTimeoutMs: 400, heartbeatMs: 100, ...user };
  const store = new RedisStore({ kind: 'standalone', host, port, ...access });
  endings.push(() => store.close());
  return store;
}

const count = (store: RedisStore): Promise<unknown> => store.run(COUNT, ['t:{x}'], [1]);
const readOf = async (server: RedisServer): Promise<number> => Number(await ask(server, (redis) => redis.get('t:{x}')));

describe('a name that leads to another server', () => {
  it('is asked anew when the server that was reached by it has become a replica, for messages too', async () => {
    const [first, second] = [await start(), await start()];
    const address = { host: first.host, port: first.port };
    const name = await startFaultProxy({ target: address });
    endings.push(() => name.close());
    const store = open(name);
    const heard: string[] = [];
    await store.subscribe('t:channel', (message) => heard.push(message));
    await eventually(async () => Number(await count(store)) > 0);
    // As managed services do it: the old one keeps its connections, and refuses writes.
    address.port = second.port;
    await ask(first, (redis) => redis.replicaof(second.host, second.port));
    await expect(count(store)).rejects.toMatchObject({ code: 'store_unavailable', isRetryable: true });
    await eventually(async () => Number(await count(store)) > 0);
    expect(await readOf(second)).toBeGreaterThan(0);
    await first.crash();
    await eventually(async () => {
      await store.run(PUBLISH, ['t:{x}'], ['t:channel', 'after']);
      return heard.includes('after');
    });
    expect(store.health().downForMs).toBe(0);
  });
});

describe('a master without replicas, under min-replicas-to-write', () => {
  it('takes no writes after min-replicas-max-lag, and then again', async () => {
    const master = await start(['--min-replicas-to-write', '1', '--min-replicas-max-lag', '1']);
    const replica = await start(['--replicaof', `${master.host} ${String(master.port)}`]);
    await eventually(() => hasReplicas(master, 1));
    const store = open(master);
    await eventually(async () => Number(await count(store)) > 0);
    replica.freeze();
    await eventually(() =>
      count(store).then(
        () => false,
        (error: unknown) => String(error).includes('min-replicas-to-write'),
      ),
    );
    const before = await readOf(master);
    await expect(count(store)).rejects.toMatchObject({ code: 'store_unavailable', isRetryable: true });
    expect(await readOf(master)).toBe(before);
    replica.thaw();
    await eventually(async () => Number(await count(store)) > before);
  });
});

describe('a password', () => {
  it('is rotated without a stop, since a user may have two; who has the old one alone says so, until it is good again', async () => {
    const server = await start();
    const acl = (...rules: string[]): Promise<unknown> => ask(server, (redis) => redis.acl('SETUSER', 'app', ...rules));
    const cut = (): Promise<unknown> => ask(server, (redis) => redis.client('KILL', 'USER', 'app'));
    await acl('on', '>old', '~t:*', '&t:*', '+@all');
    const former = open(server, { username: 'app', password: 'old' });
    await count(former);
    await acl('>new');
    const next = open(server, { username: 'app', password: 'new' });
    await Promise.all([former, next].map(count));
    await acl('<old');
    // Connections stay what they were.
    await Promise.all([former, next].map(count));
    await cut();
    await eventually(async () => Number(await count(next)) > 0);
    await eventually(() => former.health().reason === 'wrong_password');
    await expect(count(former)).rejects.toMatchObject({ reason: 'wrong_password', isRetryable: false });
    await acl('>old');
    await eventually(async () => Number(await count(former)) > 0);
    expect(former.health()).toEqual({ kind: 'redis', policy: 'refuse', downForMs: 0 });
  });
});
