import type { Redis } from 'ioredis';
import { NOT_STANDALONE, READ_ONLY, replyCode } from './redis.fault.js';
import { StoreConfigurationError, StoreUnavailableError } from './store.errors.js';
import { checkVersion } from './server.version.js';
import type { Store } from './store.js';

/** What is not wrong enough to refuse, but may hurt later. */
export type ServerNotice = string;

const UNCHECKED = 'the redis user may not run INFO: neither its mode nor its eviction policy is checked';

/**
 * Whether a fresh connection leads to what it should: the kind of server and the database that were said, with its data loaded.
 *
 * @returns what an operator should know
 * @throws StoreConfigurationError, StoreUnavailableError
 */
export async function checkServer(client: Redis, kind: Store['kind']): Promise<readonly ServerNotice[]> {
  const info = await readInfo(client);
  if (info !== undefined) {
    checkVersion(info);
    checkMode(info, kind);
  }
  await enterDatabase(client, kind);
  return info === undefined ? [UNCHECKED] : evictionNotice(info.get('maxmemory_policy'));
}

function checkMode(info: ReadonlyMap<string, string>, kind: Store['kind']): void {
  if (info.get('redis_mode') === 'sentinel') {
    throw new StoreConfigurationError(
      'wrong_topology',
      'the address is that of a sentinel: give it in REDIS_SENTINELS, with REDIS_SENTINEL_MASTER',
    );
  }
  if (kind !== 'cluster' && info.get('redis_mode') === 'cluster') {
    throw new StoreConfigurationError('wrong_topology', NOT_STANDALONE);
  }
  if (info.get('loading') === '1') throw new StoreUnavailableError('redis is loading its data');
  // Right after a failover a sentinel, or a name, may still lead to the old master.
  if (kind !== 'cluster' && info.get('role') === 'slave') throw new StoreUnavailableError(READ_ONLY);
}

/** ioredis selects it by itself, and goes on in database 0 where that was refused. */
async function enterDatabase(client: Redis, kind: Store['kind']): Promise<void> {
  const database = client.options.db ?? 0;
  // Where every connection begins; a cluster has no other.
  if (kind !== 'cluster' && database !== 0) await client.select(database);
}

function evictionNotice(policy: string | undefined): readonly ServerNotice[] {
  if (policy === undefined || policy === 'noeviction') return [];
  return [`redis may evict keys (maxmemory-policy ${policy}), which would lose locks and quotas: set it to noeviction`];
}

/** Undefined where the user may not ask. */
async function readInfo(client: Redis): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    const lines = (await client.info()).split('\r\n').filter((line) => line.includes(':'));
    return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
  } catch (error) {
    if (replyCode(error) === 'NOPERM') return undefined;
    throw error;
  }
}
