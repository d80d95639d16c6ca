import type { LedgerEntry } from '../../src/ai/ledger/ledger.entry.js';
import type { LedgerLimits } from '../../src/ai/ledger/ledger.limits.js';
import { loadLedgerScripts } from '../../src/ai/ledger/ledger.scripts.js';
import type { LedgerStore } from '../../src/ai/ledger/ledger.store.js';
import { MemoryLedgerStore } from '../../src/ai/ledger/memory-ledger.store.js';
import { RedisLedgerStore } from '../../src/ai/ledger/redis-ledger.store.js';
import { CLOCK_KEY, clockedRedis, type ClockedServer, type TestClock } from './clocked-redis.js';
import type { ClockedTopology } from './clocked-topology.js';

/** 2026-11-29T12:00:00Z. */
export const NOON_MS = Date.UTC(2026, 10, 29, 12);
export const DAY_MS = 86_400_000;
export const BENCH_LIMITS: LedgerLimits = { keepMs: 35 * DAY_MS, mostEntries: 1_000 };

/** A ledger's store in the test's time. */
export interface LedgerBench {
  readonly store: LedgerStore;
  readonly clock: TestClock;
  close(): Promise<void>;
}

export type RedisLedgerBench = LedgerBench & ClockedServer;

export function memoryLedgerBench(clock: TestClock = { us: NOON_MS * 1_000 }): Promise<LedgerBench> {
  const store = new MemoryLedgerStore(BENCH_LIMITS, () => Math.floor(clock.us / 1_000));
  return Promise.resolve({ store, clock, close: () => Promise.resolve() });
}

export function redisLedgerBench(
  address: { readonly host: string; readonly port: number },
  prefix: string,
  clock: TestClock = { us: NOON_MS * 1_000 },
): Promise<RedisLedgerBench> {
  const server = clockedRedis(address, prefix, clock);
  const store = new RedisLedgerStore(server.redis, BENCH_LIMITS, loadLedgerScripts({ clock: { key: CLOCK_KEY } }));
  return Promise.resolve({ ...server, store, clock });
}

/** On Redis of any kind, over the store that production has. */
export async function ledgerBenchOn(redis: ClockedTopology, keyPrefix: string): Promise<LedgerBench> {
  const { store, clock, close } = await redis.ground(keyPrefix, NOON_MS * 1_000, loadLedgerScripts);
  return { store: new RedisLedgerStore(store, BENCH_LIMITS), clock, close };
}

let calls = 0;

/** A whole answer of 10 + 2 tokens at 36 millionths of a dollar, or whatever else the test says. */
export function ledgerEntry(more: Partial<LedgerEntry> = {}): LedgerEntry {
  calls += 1;
  return {
    callId: `call-${calls}`,
    at: NOON_MS,
    requestId: `req-${calls}`,
    requested: 'gpt-4.1',
    model: 'gpt-4.1',
    provider: 'openai',
    deployment: 'openai/gpt-4.1-2025-04-14',
    end: 'complete',
    promptTokens: 10,
    cachedTokens: 0,
    completionTokens: 2,
    reasoningTokens: 0,
    costNanoUsd: 36_000,
    isEstimated: false,
    attempts: 1,
    ...more,
  };
}

/** An entry for which nobody was called. */
export function refusedEntry(more: Partial<LedgerEntry> = {}): LedgerEntry {
  const { model, provider, deployment, costNanoUsd, ...entry } = ledgerEntry();
  return {
    ...entry,
    ...{
      end: 'failed',
      code: 'rate_limit_exceeded',
      attempts: 0,
      promptTokens: 0,
      completionTokens: 0,
      costNanoUsd: 0,
    },
    ...more,
  };
}
