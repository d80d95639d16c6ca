import { Redis } from 'ioredis';
import type { Certificates } from './certificates.js';
import { eventually } from './eventually.js';
import { portWords, type RedisServer, startRedisServer } from './redis-server.js';

const MASTER_NAME = 'mymaster';
const QUORUM = 2;
/** Sentinels find each other by greetings that they send every two seconds. */
const READY_CEILING_MS = 30_000;

export interface SentinelOptions {
  /** Silence after which a sentinel takes the master for down, ms. Default 1,000; a failover takes 2 s at least. */
  readonly downAfterMs?: number;
  /** Default 3,000. */
  readonly failoverTimeoutMs?: number;
  /** A master with fewer replicas in touch takes no writes. Default 0. */
  readonly minReplicas?: number;
  /** Further words of each redis-server. */
  readonly words?: readonly string[];
  /** Lines of its configuration, which sentinels have it rewrite: users, which may not be there twice. */
  readonly serverLines?: readonly string[];
  /** Lines of each sentinel's configuration. */
  readonly lines?: readonly string[];
  /** For all connections, those among them included. */
  readonly tls?: Certificates;
}

/** One master, two replicas and three sentinels, all of the test's own. */
export interface RedisSentinel {
  readonly masterName: string;
  readonly sentinels: readonly RedisServer[];
  readonly servers: readonly RedisServer[];
  /** The server that the sentinels call the master now. */
  master(): Promise<RedisServer>;
  /** Makes a replica the master, planned, and waits until all sentinels say so. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts them and waits until each sentinel knows all the others and both replicas. */
export async function startRedisSentinel(options: SentinelOptions = {}): Promise<RedisSentinel> {
  const started: RedisServer[] = [];
  const keep = async (server: Promise<RedisServer>): Promise<RedisServer> => {
    started.push(await server);
    return server;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
  };
  try {
    const servers = await startReplicated(options, keep);
    const [first] = servers;
    const sentinels = await Promise.all([1, 2, 3].map(() => keep(startSentinel(first?.port ?? 0, options))));
    await Promise.all(sentinels.map((sentinel) => eventually(() => knowsAll(sentinel), READY_CEILING_MS)));
    const master = (): Promise<RedisServer> => agreedMaster(sentinels, servers);
    return { masterName: MASTER_NAME, sentinels, servers, master, failOver: () => failOver(sentinels, master), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startReplicated(
  { minReplicas = 0, words = [], serverLines = [], tls }: SentinelOptions,
  keep: (server: Promise<RedisServer>) => Promise<RedisServer>,
): Promise<readonly RedisServer[]> {
  const rules = [
    '--min-replicas-to-write',
    String(minReplicas),
    '--min-replicas-max-lag',
    '2',
    ...REPLICATION,
    ...words,
  ];
  const how = tls === undefined ? {} : { tls };
  const master = await keep(startRedisServer(rules, { ...how, lines: serverLines }));
  const lines = [...serverLines, `replicaof ${master.host} ${master.port}`];
  const replicas = await Promise.all([1, 2].map(() => keep(startRedisServer(rules, { ...how, lines }))));
  await eventually(
    async () => (await ask(master, (redis) => redis.info('replication'))).match(/state=online/g)?.length === 2,
    READY_CEILING_MS,
  );
  return [master, ...replicas];
}

/** A replica is in step at once. */
export const REPLICATION = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'];

function startSentinel(masterPort: number, options: SentinelOptions): Promise<RedisServer> {
  const { downAfterMs = 1_000, failoverTimeoutMs = 3_000, lines = [], tls } = options;
  return startRedisServer([], {
    ...(tls !== undefined && { tls }),
    files: ({ port, folder }) => ({
      'sentinel.conf': [
        ...pairs(portWords({ port, tls })),
        'bind 127.0.0.1',
        `dir ${folder}`,
        `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${masterPort} ${QUORUM}`,
        `sentinel down-after-milliseconds ${MASTER_NAME} ${downAfterMs}`,
        `sentinel failover-timeout ${MASTER_NAME} ${failoverTimeoutMs}`,
        `sentinel parallel-syncs ${MASTER_NAME} 1`,
        ...lines,
      ].join('\n'),
    }),
    words: ({ folder }) => [`${folder}/sentinel.conf`, '--sentinel'],
    readyLine: '+monitor master',
  });
}

function pairs(words: readonly string[]): readonly string[] {
  return words.flatMap((word, index) => (index % 2 === 0 ? [`${word} ${words[index + 1] ?? ''}`] : []));
}

async function knowsAll(sentinel: RedisServer): Promise<boolean> {
  const info = await ask(sentinel, (redis) => redis.info('sentinel'));
  return /^master0:.*status=ok.*slaves=2,sentinels=3/m.test(info);
}

async function agreedMaster(sentinels: readonly RedisServer[], servers: readonly RedisServer[]): Promise<RedisServer> {
  const ports = await Promise.all(
    sentinels.map((sentinel) =>
      ask(sentinel, (redis) => redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)),
    ),
  );
  const [port, ...others] = ports.map((answer) => (Array.isArray(answer) ? Number(answer[1]) : 0));
  const master = servers.find((server) => server.port === port);
  if (master === undefined || others.some((other) => other !== port)) throw new Error('the sentinels do not agree');
  return master;
}

async function failOver(sentinels: readonly RedisServer[], master: () => Promise<RedisServer>): Promise<void> {
  const old = await master();
  const [sentinel] = sentinels;
  if (sentinel === undefined) return;
  await ask(sentinel, (redis) => redis.call('SENTINEL', 'FAILOVER', MASTER_NAME));
  await eventually(async () => (await master()).port !== old.port, READY_CEILING_MS);
}

/** One question over a connection of its own. */
export async function ask<T>({ host, port, tls }: RedisServer, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis({
    host,
    port,
    ...(tls && { tls: tls.shown }),
    retryStrategy: null,
    commandTimeout: 2_000,
    enableReadyCheck: false,
  });
  redis.on('error', () => undefined);
  try {
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

/** Without one there is nobody to fail over to. */
export async function hasReplicas(master: RedisServer, count: number): Promise<boolean> {
  const info = await ask(master, (redis) => redis.info('replication'));
  return (info.match(/state=online/g)?.length ?? 0) >= count;
}
