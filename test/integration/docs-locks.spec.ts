import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { type Lease, LockLostError, LockService, MemoryLockStore } from '../../src/lock/index.js';
import { DocSamples } from '../support/doc-samples.js';
import { ROOT } from '../support/planted-project.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const PAGE = 'docs/locks.md';

interface SqlSample {
  pay(
    database: { query: (text: string, values: readonly unknown[]) => Promise<unknown> },
    lease: Lease,
    id: string,
  ): Promise<void>;
}
interface RedisSample {
  takeOver(redis: Redis, key: string, lease: Lease): Promise<ReadonlyMap<string, string> | undefined>;
  write(redis: Redis, key: string, lease: Lease, fields: Readonly<Record<string, string>>): Promise<boolean>;
}

let samples: DocSamples;
let sql: SqlSample;
let guarded: RedisSample;
let server: RedisServer;
let redis: Redis;
let locks: LockService;
beforeAll(async () => {
  samples = await DocSamples.of(PAGE);
  sql = (await samples.load(1)) as unknown as SqlSample;
  guarded = (await samples.load(2)) as unknown as RedisSample;
  server = await startRedisServer();
  redis = new Redis(server.port, server.host);
  locks = new LockService(new MemoryLockStore(), { graceMs: 0 });
});
afterAll(async () => {
  await locks.close();
  redis.disconnect();
  await server.stop();
  await samples[Symbol.asyncDispose]();
});

/** Two leases of one key, side by side: what a failover does, an operator's `now` does on purpose. */
async function besideEachOther(run: (older: Lease, newer: Lease) => Promise<void>): Promise<void> {
  // Of two services, so that the older one does not hear of it.
  const store = new MemoryLockStore();
  const [first, second] = [new LockService(store, { graceMs: 0 }), new LockService(store, { graceMs: 0 })];
  const older = await first.acquire('order:42');
  await store.unsubscribe((await store.inspect('order:42'))?.holders[0]?.process ?? '');
  await second.forceRelease('order:42', { mode: 'now' });
  const newer = await second.acquire('order:42', { waitMs: 0 });
  try {
    older.assertHeld();
    newer.assertHeld();
    await run(older, newer);
  } finally {
    await Promise.all([first.close(), second.close()]);
  }
}

describe('docs/locks.md', () => {
  it('has samples that compile by the rules of the project', () => {
    expect(samples.files).toHaveLength(2);
    expect(samples.faults()).toEqual([]);
  });

  it('links to what is there', () => {
    const text = readFileSync(join(ROOT, PAGE), 'utf8');
    const targets = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, target = '']) => target);
    expect(targets.length).toBeGreaterThan(4);
    expect(targets.filter((target) => !existsSync(join(ROOT, dirname(PAGE), target)))).toEqual([]);
    const paths = [...text.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('guards state in Redis: once the newer holder has taken over, nothing of the older one is written', async () => {
    await besideEachOther(async (older, newer) => {
      expect(await guarded.takeOver(redis, 'order', older)).toEqual(new Map([['fence', String(older.fence)]]));
      expect(await guarded.write(redis, 'order', older, { state: 'open' })).toBe(true);
      expect((await guarded.takeOver(redis, 'order', newer))?.get('state')).toBe('open');
      expect(await guarded.write(redis, 'order', older, { state: 'lost' })).toBe(false);
      expect(await guarded.takeOver(redis, 'order', older)).toBeUndefined();
      expect(await guarded.write(redis, 'order', newer, { state: 'paid' })).toBe(true);
      expect(await guarded.write(redis, 'order', newer, { state: 'sent' })).toBe(true);
      expect(await redis.hget('order', 'state')).toBe('sent');
    });
  });

  it('writes nothing under a lease that is over', async () => {
    const lease = await locks.acquire('over');
    await guarded.takeOver(redis, 'over', lease);
    await lease.release();
    await expect(guarded.write(redis, 'over', lease, { state: 'late' })).rejects.toBeInstanceOf(LockLostError);
    expect(await redis.hget('over', 'state')).toBeNull();
  });

  it('guards a row: takes over, writes, and gives up where somebody newer has it', async () => {
    await besideEachOther(async (older, newer) => {
      const table = new OrdersTable();
      await sql.pay(table, older, '42');
      expect(table.row).toEqual({ id: '42', state: 'paid', fence: older.fence });
      table.row = { id: '42', state: 'open', fence: 0 };
      table.beforeWrite = () => sql.pay(table, newer, '42');
      await expect(sql.pay(table, older, '42')).rejects.toThrow('a newer holder took this order over');
      expect(table.row).toEqual({ id: '42', state: 'paid', fence: newer.fence });
      await expect(sql.pay(table, older, '42')).rejects.toThrow('a newer holder has this order');
    });
  });
});

/** Does what the two statements of the page do, and knows no other. */
class OrdersTable {
  row = { id: '42', state: 'open', fence: 0 };
  beforeWrite: (() => Promise<void>) | undefined;

  readonly query = async (text: string, [id, fence, state]: readonly unknown[]): Promise<unknown> => {
    const rows = [{ state: this.row.state }];
    if (text === 'UPDATE orders SET fence = $2 WHERE id = $1 AND fence <= $2 RETURNING state') {
      if (id !== this.row.id || this.row.fence > Number(fence)) return { rows: [] };
      this.row = { ...this.row, fence: Number(fence) };
      return { rows };
    }
    expect(text).toBe('UPDATE orders SET state = $3 WHERE id = $1 AND fence = $2 RETURNING state');
    const { beforeWrite } = this;
    this.beforeWrite = undefined;
    await beforeWrite?.();
    if (id !== this.row.id || this.row.fence !== fence) return { rows: [] };
    this.row = { ...this.row, state: String(state) };
    return { rows };
  };
}
