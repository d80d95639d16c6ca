import { Redis } from 'ioredis';
import type { RedisKind } from './lock-grounds.js';
import type { RedisServer } from './redis-server.js';

/** Keys that are carried in one go: short enough that nobody waits for it. */
const BATCH = 10;
const SLOTS = 16_384;
const CARRY_MS = 5_000;

interface Node {
  readonly server: RedisServer;
  readonly redis: Redis;
  readonly id: string;
}

/** Moves slots from the master of a key to another one while both are in use, as `redis-cli --cluster reshard` does. */
export class SlotMover {
  private constructor(
    private readonly from: Node,
    private readonly to: Node,
    /** That of the key. */
    readonly slot: number,
  ) {}

  static async start(redis: Pick<RedisKind, 'masters' | 'serverOf'>, key: string): Promise<SlotMover> {
    const [from, masters] = await Promise.all([redis.serverOf(key), redis.masters()]);
    const to = masters.find(({ port }) => port !== from.port);
    if (to === undefined) throw new Error('there is no other master');
    const [source, target] = await Promise.all([nodeAt(from), nodeAt(to)]);
    return new SlotMover(source, target, await source.redis.cluster('KEYSLOT', key));
  }

  close(): void {
    this.from.redis.disconnect();
    this.to.redis.disconnect();
  }

  /** All that keep keys at the source now, that of the key first. */
  async populated(): Promise<readonly number[]> {
    const counting = this.from.redis.pipeline();
    for (let slot = 0; slot < SLOTS; slot += 1) counting.cluster('COUNTKEYSINSLOT', slot);
    const counts = (await counting.exec()) ?? [];
    const slots = counts.flatMap(([, count], slot) => (Number(count) > 0 && slot !== this.slot ? [slot] : []));
    return [this.slot, ...slots];
  }

  /** From now on keys may be at either. */
  async open(slot: number): Promise<void> {
    await this.to.redis.cluster('SETSLOT', slot, 'IMPORTING', this.from.id);
    await this.from.redis.cluster('SETSLOT', slot, 'MIGRATING', this.to.id);
  }

  /** Carries so many keys over, or what there is. @returns how many there were */
  async carry(slot: number, most = BATCH): Promise<number> {
    const keys = await this.from.redis.cluster('GETKEYSINSLOT', slot, most);
    const { host, port } = this.to.server;
    if (keys.length > 0) await this.from.redis.call('MIGRATE', host, port, '', 0, CARRY_MS, 'KEYS', ...keys);
    return keys.length;
  }

  /** Carries the rest over, and hands the slot over. */
  async finish(slot: number): Promise<void> {
    while ((await this.carry(slot)) > 0);
    for (const { redis } of [this.to, this.from]) await redis.cluster('SETSLOT', slot, 'NODE', this.to.id);
  }
}

async function nodeAt(server: RedisServer): Promise<Node> {
  const { host, port, tls } = server;
  const redis = new Redis({ host, port, ...(tls && { tls: tls.shown }), retryStrategy: null });
  redis.on('error', () => undefined);
  return { server, redis, id: await redis.cluster('MYID') };
}
