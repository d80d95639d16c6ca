import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.js';
import type { RedisKind } from './lock-grounds.js';
import { hasReplicas } from './redis-sentinel.js';
import type { RedisServer } from './redis-server.js';
import { SlotMover } from './slot-mover.js';

/** How long a slot may be on its way and nobody is refused: less than the deadline of a command. */
const LONG_MOVE_MS = 300;
/** Noticing, electing and reconnecting take seconds; on a busy machine more. */
export const FAILOVER_MS = 45_000;

/** One way in which a master goes, and how all is well again. */
export interface Failover {
  readonly name: string;
  /** Whether nothing that was acknowledged may be lost, and nobody may be refused for longer than a call waits. */
  readonly keepsAll?: boolean;
  /** Resolves when another one is the master, or the same one again. */
  fail(): Promise<void>;
  /** Called when the new one works. */
  mend(): Promise<void>;
}

export type FailoverName = 'killed' | 'frozen' | 'planned' | 'restarted' | 'moved';

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
    moved: {
      name: 'the slots of a master move to another one',
      keepsAll: true,
      fail: () => moveAll(redis, key),
      mend: mended,
    },
  };
}

/** Each is on its way with all its keys still here, and then half here and half there; the first one, that of the key, for long. */
async function moveAll(redis: RedisKind, key: string): Promise<void> {
  const mover = await SlotMover.start(redis, key);
  try {
    for (const slot of await mover.populated()) {
      const pause = (): unknown => slot === mover.slot && sleep(LONG_MOVE_MS / 2);
      await mover.open(slot);
      await pause();
      await mover.carry(slot, 1);
      await pause();
      await mover.finish(slot);
    }
  } finally {
    mover.close();
  }
}
