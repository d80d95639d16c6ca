import { eventually } from './eventually.js';
import type { RedisKind } from './lock-grounds.js';
import { hasReplicas } from './redis-sentinel.js';
import type { RedisServer } from './redis-server.js';

/** Noticing, electing and reconnecting take seconds; on a busy machine more. */
export const FAILOVER_MS = 45_000;

/** One way in which a master goes, and how all is well again. */
export interface Failover {
  readonly name: string;
  /** Resolves when another one is the master, or the same one again. */
  fail(): Promise<void>;
  /** Called when the new one works. */
  mend(): Promise<void>;
}

export type FailoverName = 'killed' | 'frozen' | 'planned' | 'restarted';

/**
 * The ways in which the master of a key goes, where it has replicas.
 *
 * @param replicas how many must be in step again before the next one. Sentinels that are hurried from one failover to the next may
 * make two servers replicas of each other for half a minute
 */
export function failoversOf(redis: RedisKind, key: string, replicas: number): Readonly<Record<FailoverName, Failover>> {
  let old: RedisServer | undefined;
  const leave = async (go: (master: RedisServer) => Promise<void> | void): Promise<void> => {
    const master = await redis.serverOf(key);
    old = master;
    await go(master);
    await eventually(async () => (await redis.serverOf(key)).port !== master.port, FAILOVER_MS);
  };
  const mended = (): Promise<void> =>
    eventually(async () => hasReplicas(await redis.serverOf(key), replicas), FAILOVER_MS);
  return {
    killed: {
      name: 'the master is killed',
      fail: () => leave((master) => master.crash()),
      mend: async () => {
        await old?.restart();
        await mended();
      },
    },
    frozen: {
      name: 'the master stands still for longer than it may, and goes on',
      fail: () =>
        leave((master) => {
          master.freeze();
        }),
      mend: async () => {
        old?.thaw();
        await mended();
      },
    },
    planned: {
      name: 'SENTINEL FAILOVER or CLUSTER FAILOVER',
      fail: () => eventually(() => redis.failOver(key).then(() => true), FAILOVER_MS),
      mend: mended,
    },
    restarted: {
      name: 'all servers are killed and started again',
      fail: async () => {
        await Promise.all(redis.servers.map((server) => server.crash()));
        await Promise.all(redis.servers.map((server) => server.restart()));
      },
      mend: mended,
    },
  };
}
