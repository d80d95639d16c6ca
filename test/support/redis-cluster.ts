import type { Certificates } from './certificates.js';
import { eventually } from './eventually.js';
import { ask, REPLICATION } from './redis-sentinel.js';
import { freePort } from './free-port.js';
import { MAX_STARTS, type RedisServer, startRedisServer } from './redis-server.js';

const SLOTS = 16_384;
const MASTERS = 3;
const READY_CEILING_MS = 30_000;

export interface ClusterOptions {
  /** Silence after which a node is taken for down, ms. Default 1,500; a failover takes about twice that. */
  readonly nodeTimeoutMs?: number;
  /** Whether all slots need a master before any is served. Default true. */
  readonly fullCoverage?: boolean;
  /** Further words of each redis-server. */
  readonly words?: readonly string[];
  /** For all connections, those among them included. */
  readonly tls?: Certificates;
}

/** Three masters with a replica each, all of the test's own. */
export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  /** The master that serves the slot of this key now. */
  masterOf(key: string): Promise<RedisServer>;
  /** Makes the replica of that master the master, planned, and waits until it is. */
  failOver(key: string): Promise<void>;
  stop(): Promise<void>;
}

interface Node {
  readonly server: RedisServer;
  readonly busPort: number;
}

/** Starts it and waits until every node says that the cluster is whole and every replica is in step. */
export async function startRedisCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const started: Node[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(({ server }) => server.stop()));
  };
  try {
    await Promise.all(Array.from({ length: 2 * MASTERS }, async () => started.push(await startNode(options))));
    await join(started);
    const nodes = started.map(({ server }) => server);
    const masterOf = (key: string): Promise<RedisServer> => findMaster(nodes, key);
    return { nodes, masterOf, failOver: (key) => failOver(nodes, key), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Its second port may be taken before the node does, as its first may. */
async function startNode(options: ClusterOptions): Promise<Node> {
  for (let start = 1; ; start += 1) {
    try {
      return await tryNode(options);
    } catch (error) {
      if (start === MAX_STARTS) throw error;
    }
  }
}

async function tryNode({ nodeTimeoutMs = 1_500, fullCoverage = true, words = [], tls }: ClusterOptions): Promise<Node> {
  const busPort = await freePort();
  const server = await startRedisServer(
    [
      ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--cluster-port', String(busPort)],
      ...['--cluster-announce-ip', '127.0.0.1', '--cluster-node-timeout', String(nodeTimeoutMs)],
      ...['--cluster-require-full-coverage', fullCoverage ? 'yes' : 'no', ...REPLICATION, ...words],
    ],
    tls === undefined ? {} : { tls },
  );
  return { server, busPort };
}

async function join(nodes: readonly Node[]): Promise<void> {
  const [first] = nodes;
  if (first === undefined) return;
  const masters = nodes.slice(0, MASTERS);
  await Promise.all(
    masters.map(({ server }, index) => {
      const [from, to] = [index, index + 1].map((at) => Math.floor((SLOTS * at) / MASTERS));
      return ask(server, (redis) => redis.cluster('ADDSLOTSRANGE', String(from), String((to ?? 0) - 1)));
    }),
  );
  // Two fresh nodes with the same epoch would have to settle that first.
  await Promise.all(nodes.map(({ server }, index) => call(server, 'SET-CONFIG-EPOCH', index + 1)));
  for (const { server, busPort } of nodes.slice(1)) await call(first.server, 'MEET', '127.0.0.1', server.port, busPort);
  await eventuallyAll(nodes, /cluster_known_nodes:6/);
  await Promise.all(nodes.slice(MASTERS).map((node, index) => replicate(node, masters[index])));
  await eventuallyAll(nodes, /cluster_state:ok[\s\S]*cluster_slots_ok:16384/);
  await Promise.all(nodes.slice(MASTERS).map(({ server }) => eventually(() => isInStep(server), READY_CEILING_MS)));
}

async function replicate({ server }: Node, master: Node | undefined): Promise<void> {
  if (master === undefined) return;
  const id = String(await call(master.server, 'MYID'));
  // Refused until the greeting has come round.
  await eventually(async () => (await call(server, 'REPLICATE', id)) === 'OK', READY_CEILING_MS);
}

async function eventuallyAll(nodes: readonly Node[], pattern: RegExp): Promise<void> {
  await Promise.all(
    nodes.map(({ server }) =>
      eventually(async () => pattern.test(String(await call(server, 'INFO'))), READY_CEILING_MS),
    ),
  );
}

async function isInStep(server: RedisServer): Promise<boolean> {
  return (await ask(server, (redis) => redis.info('replication'))).includes('master_link_status:up');
}

/** Asks the nodes in turn: the one that is looked for may be down. */
async function findMaster(nodes: readonly RedisServer[], key: string): Promise<RedisServer> {
  for (const node of nodes) {
    try {
      const slot = Number(await call(node, 'KEYSLOT', key));
      const port = masterPort(await call(node, 'SLOTS'), slot);
      const master = nodes.find((other) => other.port === port);
      if (master !== undefined) return master;
    } catch {
      // This one is down: the next.
    }
  }
  throw new Error(`no node knows the master of ${key}`);
}

function masterPort(slots: unknown, slot: number): number | undefined {
  if (!Array.isArray(slots)) return undefined;
  for (const range of slots as unknown[]) {
    if (!Array.isArray(range) || slot < Number(range[0]) || slot > Number(range[1])) continue;
    const master: unknown = range[2];
    return Array.isArray(master) ? Number(master[1]) : undefined;
  }
  return undefined;
}

async function failOver(nodes: readonly RedisServer[], key: string): Promise<void> {
  const old = await findMaster(nodes, key);
  const id = String(await call(old, 'MYID'));
  const lines = String(await call(old, 'NODES')).split('\n');
  const replica = lines.find((line) => line.includes('slave') && line.includes(id));
  const server = nodes.find(({ port }) => replica?.includes(`:${port}@`) === true);
  if (server === undefined) throw new Error('that master has no replica');
  await call(server, 'FAILOVER');
  await eventually(async () => (await findMaster(nodes, key)).port === server.port, READY_CEILING_MS);
}

function call(server: RedisServer, ...words: (string | number)[]): Promise<unknown> {
  return ask(server, (redis) => redis.call('CLUSTER', ...words));
}
