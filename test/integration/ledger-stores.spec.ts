import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeLedgerStore } from '../contract/ledger-store.contract.js';
import {
  DAY_MS,
  ledgerEntry,
  memoryLedgerBench,
  redisLedgerBench,
  type RedisLedgerBench,
} from '../support/ledger-bench.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

describeLedgerStore('MemoryLedgerStore', () => memoryLedgerBench());
describeLedgerStore('RedisLedgerStore', () => redisLedgerBench(server, `l${(benches += 1)}:`));

describe('the ledger in Redis', () => {
  let bench: RedisLedgerBench;
  beforeEach(async () => {
    bench = await redisLedgerBench(server, `k${(benches += 1)}:`);
  });
  afterEach(() => bench.close());

  it('keeps four keys a caller in one slot, each of which ends by itself', async () => {
    await bench.store.book('{a}:b', [ledgerEntry()]);
    const tag = `${bench.redis.keyPrefix}lg:{c:%7ba%7d%3ab}:1:`;
    const keys = await bench.client.keys(`${bench.redis.keyPrefix}*`);
    expect(keys.sort()).toEqual([`${tag}ids`, `${tag}log`, `${tag}sums:2026-11`, `${tag}sums:2026-11-29`]);
    expect(bench.redis.lives.map((life) => Math.ceil(life / 1_000))).toEqual([
      35 * 86_400,
      900,
      35 * 86_400,
      400 * 86_400,
    ]);
  });

  it('gets rid of what is over as new calls come, a bounded number at once', async () => {
    for (let batch = 0; batch < 5; batch += 1) {
      await bench.store.book(
        'acme',
        Array.from({ length: 50 }, () => ledgerEntry()),
      );
    }
    bench.clock.us += 36 * DAY_MS * 1_000;
    const lengths: number[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      await bench.store.book(
        'acme',
        Array.from({ length: 50 }, () => ledgerEntry()),
      );
      lengths.push(await bench.client.xlen(`${bench.redis.keyPrefix}lg:{c:acme}:1:log`));
    }
    expect(lengths).toEqual([190, 130, 150, 200, 250]);
  });

  it('costs an entry no more than its texts and numbers', async () => {
    for (let batch = 0; batch < 20; batch += 1) {
      await bench.store.book(
        'acme',
        Array.from({ length: 100 }, () => ledgerEntry({ callId: crypto.randomUUID() })),
      );
    }
    const bytes = await bench.client.memory('USAGE', `${bench.redis.keyPrefix}lg:{c:acme}:1:log`, 'SAMPLES', 0);
    expect((bytes ?? 0) / 2_000).toBeLessThan(250);
  });

  it('says which answer it cannot read', async () => {
    await bench.client.xadd(`${bench.redis.keyPrefix}lg:{c:acme}:1:log`, '*', 'end', 'bankrupt');
    await expect(bench.store.page('acme', { from: 0, to: Number.POSITIVE_INFINITY, limit: 5 })).rejects.toThrow(
      'bankrupt',
    );
  });
});
