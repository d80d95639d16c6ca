import { Cluster, Redis } from 'ioredis';
import type { RedisAccess } from '../../src/store/index.js';
import type { Certificates } from './certificates.js';
import { ACL_PASSWORD, ACL_USER, documentedAcl } from './documented-acl.js';
import { RedisGround, type RedisKind } from './lock-grounds.js';
import { startRedisCluster } from './redis-cluster.js';
import { startRedisSentinel } from './redis-sentinel.js';
import { startRedisServer } from './redis-server.js';

export interface KindOptions {
  /** Further words of each redis-server. */
  readonly words?: readonly string[];
  /** See SentinelOptions. */
  readonly minReplicas?: number;
  /** For all connections. */
  readonly tls?: Certificates;
  /** Whether we are the user that docs/deployment.md makes. Tests look on as another one. */
  readonly isRestricted?: boolean;
}

export async function startStandalone(options: KindOptions = {}): Promise<RedisKind> {
  const { tls } = options;
  const server = await startRedisServer(wordsOf(options, 'server'), tls === undefined ? {} : { tls });
  const { host, port } = server;
  return {
    kind: 'standalone',
    servers: [server],
    options: (keyPrefix) => ({ kind: 'standalone', host, port, keyPrefix, ...accessOf(options) }),
    environment: { REDIS_HOST: host, REDIS_PORT: String(port), ...environmentOf(options) },
    serverOf: () => Promise.resolve(server),
    masters: () => Promise.resolve([server]),
    clientThrough: (proxyOf) => quiet(new Redis({ ...addressOf(proxyOf(server)), lazyConnect: true })),
    failOver: () => Promise.reject(new Error('one server has no replica')),
    stop: () => server.stop(),
  };
}

export async function startSentinel(options: KindOptions = {}): Promise<RedisKind> {
  const { tls, isRestricted = false, minReplicas = 0 } = options;
  const sentinel = await startRedisSentinel({
    ...{ words: options.words ?? [], minReplicas, ...(tls && { tls }) },
    ...(isRestricted && { serverLines: [userOf('server')], lines: [userOf('sentinel')] }),
  });
  const { sentinels, masterName: master, servers } = sentinel;
  return {
    kind: 'sentinel',
    servers,
    options: (keyPrefix) => ({
      ...{ kind: 'sentinel', sentinels, master, keyPrefix, ...accessOf(options) },
      ...(isRestricted && { sentinelUsername: ACL_USER, sentinelPassword: ACL_PASSWORD }),
    }),
    environment: {
      ...{ REDIS_SENTINELS: listOf(sentinels), REDIS_SENTINEL_MASTER: master, ...environmentOf(options) },
      ...(isRestricted && { REDIS_SENTINEL_USERNAME: ACL_USER, REDIS_SENTINEL_PASSWORD: ACL_PASSWORD }),
    },
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

export async function startCluster(options: KindOptions = {}): Promise<RedisKind> {
  const { tls } = options;
  const cluster = await startRedisCluster({ words: wordsOf(options, 'cluster'), ...(tls && { tls }) });
  const { nodes } = cluster;
  const masters = async (): Promise<RedisKind['servers']> => {
    const keys = Array.from({ length: 60 }, (_, index) => `{${index}}`);
    return [...new Set(await Promise.all(keys.map((key) => cluster.masterOf(key))))];
  };
  return {
    kind: 'cluster',
    servers: nodes,
    options: (keyPrefix) => ({ kind: 'cluster', nodes, keyPrefix, ...accessOf(options) }),
    environment: { REDIS_CLUSTER_NODES: listOf(nodes.slice(0, 3)), ...environmentOf(options) },
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

function wordsOf({ words = [], isRestricted = false }: KindOptions, kind: 'server' | 'cluster'): readonly string[] {
  if (!isRestricted) return words;
  const more = kind === 'cluster' ? documentedAcl('cluster') : [];
  return [...words, '--user', ACL_USER, ...documentedAcl('server'), ...more];
}

function userOf(which: 'server' | 'sentinel'): string {
  return `user ${ACL_USER} ${documentedAcl(which).join(' ')}`;
}

type Access = Pick<RedisAccess, 'db' | 'tls' | 'tlsCa' | 'tlsCert' | 'tlsKey' | 'username' | 'password'>;

function accessOf({ tls, isRestricted = false }: KindOptions): Access {
  return {
    ...{ db: 0, tls: tls !== undefined },
    ...(tls && { tlsCa: tls.shown.ca, tlsCert: tls.shown.cert, tlsKey: tls.shown.key }),
    ...(isRestricted && { username: ACL_USER, password: ACL_PASSWORD }),
  };
}

function environmentOf({ tls, isRestricted = false }: KindOptions): Record<string, string> {
  return {
    ...(tls && {
      ...{ REDIS_TLS: 'true', REDIS_TLS_CA_FILE: tls.caFile },
      ...{ REDIS_TLS_CERT_FILE: tls.certFile, REDIS_TLS_KEY_FILE: tls.keyFile },
    }),
    ...(isRestricted && { REDIS_USERNAME: ACL_USER, REDIS_PASSWORD: ACL_PASSWORD }),
  };
}

function listOf(servers: readonly Address[]): string {
  return servers.map(({ host, port }) => `${host}:${String(port)}`).join();
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
