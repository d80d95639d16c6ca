import { Cluster, Redis } from 'ioredis';
import { RedisGround, type RedisKind } from './lock-grounds.js';
import { startRedisCluster } from './redis-cluster.js';
import { startRedisSentinel } from './redis-sentinel.js';
import { startRedisServer } from './redis-server.js';

const ACCESS = { db: 0, tls: false };

export async function startStandalone(): Promise<RedisKind> {
  const server = await startRedisServer();
  const { host, port } = server;
  return {
    kind: 'standalone',
    servers: [server],
    options: (keyPrefix) => ({ kind: 'standalone', host, port, keyPrefix, ...ACCESS }),
    serverOf: () => Promise.resolve(server),
    masters: () => Promise.resolve([server]),
    clientThrough: (proxyOf) => quiet(new Redis({ ...addressOf(proxyOf(server)), lazyConnect: true })),
    failOver: () => Promise.reject(new Error('one server has no replica')),
    stop: () => server.stop(),
  };
}

export async function startSentinel(): Promise<RedisKind> {
  const sentinel = await startRedisSentinel();
  const { sentinels, masterName: master, servers } = sentinel;
  return {
    kind: 'sentinel',
    servers,
    options: (keyPrefix) => ({ kind: 'sentinel', sentinels, master, keyPrefix, ...ACCESS }),
    serverOf: () => sentinel.master(),
    masters: async () => [await sentinel.master()],
    clientThrough: (proxyOf) => {
      const natMap = natMapOf(servers, proxyOf);
      return quiet(new Redis({ sentinels: sentinels.map(addressOf), name: master, natMap, lazyConnect: true }));
    },
    failOver: () => sentinel.failOver(),
    stop: () => sentinel.stop(),
  };
}

export async function startCluster(): Promise<RedisKind> {
  const cluster = await startRedisCluster();
  const { nodes } = cluster;
  const masters = async (): Promise<RedisKind['servers']> => {
    const keys = Array.from({ length: 60 }, (_, index) => `{${index}}`);
    return [...new Set(await Promise.all(keys.map((key) => cluster.masterOf(key))))];
  };
  return {
    kind: 'cluster',
    servers: nodes,
    options: (keyPrefix) => ({ kind: 'cluster', nodes, keyPrefix, ...ACCESS }),
    serverOf: (name) => cluster.masterOf(name),
    masters,
    clientThrough: (proxyOf) => {
      const natMap = natMapOf(nodes, proxyOf);
      return quiet(
        new Cluster(
          nodes.map((node) => addressOf(proxyOf(node))),
          { natMap, lazyConnect: true },
        ),
      );
    },
    failOver: (name) => cluster.failOver(name),
    stop: () => cluster.stop(),
  };
}

/** The same Redis, reached by a client that was passed in and has a prefix of its own. */
export function passingClient(redis: RedisKind, clientPrefix: string): RedisGround {
  const [server] = redis.servers;
  if (server === undefined) throw new Error('no server');
  const client = quiet(new Redis({ ...addressOf(server), keyPrefix: clientPrefix, lazyConnect: true }));
  return new RedisGround(redis, (keyPrefix) => ({ kind: 'client', client, keyPrefix }), clientPrefix);
}

interface Address {
  readonly host: string;
  readonly port: number;
}

function addressOf({ host, port }: Address): { host: string; port: number } {
  return { host, port };
}

function natMapOf(
  servers: readonly Address[],
  proxyOf: (server: Address) => Address,
): Record<string, { host: string; port: number }> {
  return Object.fromEntries(servers.map((server) => [`${server.host}:${server.port}`, addressOf(proxyOf(server))]));
}

/** It is a pattern for others and connects to nothing itself. */
function quiet<Client extends Redis | Cluster>(client: Client): Client {
  client.on('error', () => undefined);
  return client;
}
