import { Cluster, Redis, type ClusterOptions as IoClusterOptions, type RedisOptions as IoRedisOptions } from 'ioredis';
import { type Address, parseKeyPrefix, type RedisAccess, type RedisStoreOptions } from './redis.options.js';
import type { Sentinels } from './sentinel.watch.js';
import type { Store } from './store.js';

/** How connections to one Redis are made: each call opens another one, by our rules. */
export interface Clients {
  readonly kind: Store['kind'];
  /** Prefix of all names, that of a passed-in client included. */
  readonly keyPrefix: string;
  openCommands(): Redis | Cluster;
  /** @param near a cluster client that knows the nodes. Undefined: there is no node to ask now */
  openSubscriber(near: Redis | Cluster | undefined): Redis | undefined;
  /** Where sentinels say who the master is. */
  readonly sentinels?: Sentinels;
}

interface ConnectionRules {
  readonly connectionName: string;
  readonly connectTimeoutMs: number;
}

/** A frozen server answers no FIN; then the socket is destroyed after this time, ms. */
const DISCONNECT_TIMEOUT_MS = 250;
const MAX_REDIRECTIONS = 5;

/**
 * The rules under which a lock can live: a connection is used until it ends and then replaced by another; no command waits in a
 * queue, is sent twice, or is sent for a caller who has left.
 */
function commandRules({ connectionName, connectTimeoutMs }: ConnectionRules): IoRedisOptions {
  return {
    connectionName,
    connectTimeout: connectTimeoutMs,
    disconnectTimeout: DISCONNECT_TIMEOUT_MS,
    sentinelCommandTimeout: connectTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableAutoPipelining: false,
    // The link makes the next connection; see link.ts.
    retryStrategy: null,
    sentinelRetryStrategy: () => null,
    // Our own check reads INFO; see server.check.ts.
    enableReadyCheck: false,
    maxLoadingRetryTime: 500,
    disableClientInfo: true,
    lazyConnect: false,
    readOnly: false,
    monitor: false,
    noDelay: true,
    stringNumbers: false,
    keyPrefix: '',
  };
}

function clusterRules(node: IoRedisOptions, rules: ConnectionRules): IoClusterOptions {
  const {
    connectionName: _,
    retryStrategy: __,
    enableOfflineQueue: ___,
    readOnly: ____,
    ...common
  } = commandRules(rules);
  return {
    enableOfflineQueue: false,
    enableReadyCheck: true,
    lazyConnect: false,
    scaleReads: 'master',
    keyPrefix: '',
    // Any delay here would send a command after its caller has left.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnMoved: 0,
    retryDelayOnTryAgain: 0,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshTimeout: rules.connectTimeoutMs,
    // Its timer outlives a client that ends while it asks, and goes on for ever; see cluster.nodes.ts.
    slotsRefreshInterval: 0,
    clusterRetryStrategy: () => null,
    clusterNodeRetryStrategy: null,
    enableAutoPipelining: false,
    redisOptions: { ...node, ...common, connectionName: rules.connectionName, enableReadyCheck: true },
  };
}

/** @throws StoreConfigurationError where the prefix is not one */
export function clientsFor(options: RedisStoreOptions, rules: ConnectionRules): Clients {
  const keyPrefix = parseKeyPrefix(options.keyPrefix);
  switch (options.kind) {
    case 'client':
      return clientsLike(options.client, keyPrefix, rules);
    case 'cluster':
      return clusterClients(options.nodes, options, rules);
    case 'standalone':
      return singleClients(keyPrefix, {
        ...access(options),
        host: options.host,
        port: options.port,
        ...commandRules(rules),
      });
    case 'sentinel':
      return singleClients(keyPrefix, {
        ...access(options),
        sentinels: options.sentinels.map(({ host, port }) => ({ host, port })),
        name: options.master,
        role: 'master',
        ...(options.sentinelUsername !== undefined && { sentinelUsername: options.sentinelUsername }),
        ...(options.sentinelPassword !== undefined && { sentinelPassword: options.sentinelPassword }),
        ...(options.tls && { enableTLSForSentinelMode: true, sentinelTLS: tlsOf(options) }),
        ...commandRules(rules),
      });
  }
}

function singleClients(keyPrefix: string, options: IoRedisOptions, open = (): Redis => new Redis(options)): Clients {
  const sentinels = sentinelsOf(options);
  const kind = sentinels === undefined ? 'standalone' : 'sentinel';
  return { kind, keyPrefix, openCommands: open, openSubscriber: open, ...(sentinels && { sentinels }) };
}

/** By the options of a client that finds its master through them. */
function sentinelsOf({ name, ...options }: IoRedisOptions): Sentinels | undefined {
  const sentinels = options.sentinels ?? [];
  if (sentinels.length === 0 || name === undefined) return undefined;
  const { sentinelUsername, sentinelPassword, sentinelTLS, connectionName, connectTimeout } = options;
  const own: IoRedisOptions = {
    ...commandRules({ connectionName: connectionName ?? '', connectTimeoutMs: connectTimeout ?? 1_000 }),
    ...(sentinelUsername !== undefined && { username: sentinelUsername }),
    ...(sentinelPassword !== undefined && { password: sentinelPassword }),
    ...(sentinelTLS !== undefined && { tls: sentinelTLS }),
  };
  return { masterName: name, open: sentinels.map((address) => () => new Redis({ ...own, ...address })) };
}

function clusterClients(nodes: readonly Address[], options: RedisAccess, rules: ConnectionRules): Clients {
  const addresses = nodes.map(({ host, port }) => ({ host, port }));
  return {
    kind: 'cluster',
    keyPrefix: options.keyPrefix,
    openCommands: () => new Cluster(addresses, clusterRules(access(options), rules)),
    openSubscriber: (near) => subscriberNear(near, rules),
  };
}

function clientsLike(client: Redis | Cluster, keyPrefix: string, rules: ConnectionRules): Clients {
  const prefix = parseKeyPrefix(`${client.options.keyPrefix ?? ''}${keyPrefix}`);
  if (isCluster(client)) {
    const node = client.options.redisOptions ?? {};
    return {
      kind: 'cluster',
      keyPrefix: prefix,
      openCommands: () => client.duplicate([], clusterRules(node, rules)),
      openSubscriber: (near) => subscriberNear(near, rules),
    };
  }
  const options = { ...client.options, ...commandRules(rules) };
  return singleClients(prefix, options, () => client.duplicate(commandRules(rules)));
}

/** A plain message reaches every node of a cluster, so any node will do; another one after each failure. */
function subscriberNear(near: Redis | Cluster | undefined, rules: ConnectionRules): Redis | undefined {
  if (near === undefined || !isCluster(near)) return undefined;
  const nodes = near.nodes('all').filter(({ status }) => status === 'ready' || status === 'wait');
  const node = nodes[Math.floor(Math.random() * nodes.length)];
  return node?.duplicate(commandRules(rules));
}

export function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster;
}

function access(options: RedisAccess): IoRedisOptions {
  return {
    db: options.db,
    ...(options.username !== undefined && { username: options.username }),
    ...(options.password !== undefined && { password: options.password }),
    ...(options.tls && { tls: tlsOf(options) }),
  };
}

function tlsOf({ tlsCa, tlsCert, tlsKey }: RedisAccess): { ca?: string; cert?: string; key?: string } {
  return {
    ...(tlsCa !== undefined && { ca: tlsCa }),
    ...(tlsCert !== undefined && { cert: tlsCert }),
    ...(tlsKey !== undefined && { key: tlsKey }),
  };
}
