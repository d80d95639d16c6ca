import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayOf, monthOf } from '../../src/ai/ledger/ledger.periods.js';
import type { LedgerStore } from '../../src/ai/ledger/ledger.store.js';
import {
  DAY_MS,
  ledgerEntry,
  memoryLedgerBench,
  type LedgerBench,
  NOON_MS,
  redisLedgerBench,
  type RedisLedgerBench,
} from '../support/ledger-bench.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const RUNS = sized(30, 2_000);
const TIMEOUT_MS = sized(120_000, 600_000);

interface Step {
  /** How long after the step before, µs; the clock may step back. */
  readonly us: number;
  readonly words: string;
  readonly run: (store: LedgerStore, nowMs: number) => Promise<unknown>;
}

const caller = fc.constantFrom('a', 'b|{c}');
const us = fc.oneof(
  fc.integer({ min: 0, max: 5_000_000 }),
  fc.constantFrom(-2_000_000, 600_000_000, 900_000_000, DAY_MS * 1_000, 36 * DAY_MS * 1_000),
);
const call = fc.record({
  id: fc.integer({ min: 0, max: 30 }),
  agoMs: fc.integer({ min: 0, max: 300_000 }),
  model: fc.constantFrom('m', 'n', undefined),
  end: fc.constantFrom('complete' as const, 'partial' as const, 'hit' as const),
  tokens: fc.integer({ min: 0, max: 1_000 }),
});

const booking = fc
  .record({ us, caller, calls: fc.array(call, { maxLength: 6 }) })
  .map(({ us: after, caller: who, calls }): Step => ({
    us: after,
    words: `${who} books ${JSON.stringify(calls)}`,
    run: (store, nowMs) =>
      store.book(
        who,
        calls.map(({ id, agoMs, model, end, tokens }) => {
          const { model: usual, ...entry } = ledgerEntry({ end, promptTokens: tokens, requestId: 'r' });
          return { ...entry, callId: `call ${id}`, at: nowMs - agoMs, ...(model !== undefined && { model }) };
        }),
      ),
  }));

const reading = fc
  .record({ us, caller, fromMs: fc.integer({ min: 0, max: 400_000 }), limit: fc.integer({ min: 1, max: 8 }) })
  .map(({ us: after, caller: who, fromMs, limit }): Step => ({
    us: after,
    words: `${who} reads ${limit} of the last ${fromMs} ms`,
    run: async (store, nowMs) => {
      const first = await store.page(who, { from: nowMs - fromMs, to: nowMs, limit });
      const rest = first.next && (await store.page(who, { from: 0, to: Infinity, after: first.next, limit }));
      return [first, rest, await store.sums(who, [dayOf(nowMs).name, monthOf(nowMs).name])];
    },
  }));

async function play({ store, clock }: LedgerBench, steps: readonly Step[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const step of steps) {
    clock.us += step.us;
    answers.push(await step.run(store, Math.floor(clock.us / 1_000)));
  }
  return answers;
}

describe('the two stores of the ledger', () => {
  let server: RedisServer;
  let redis: RedisLedgerBench;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = await redisLedgerBench(server, 'agree:');
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it(
    'answer the same, whatever is booked and asked when',
    async () => {
      const steps = fc.array(fc.oneof(booking, booking, reading), { minLength: 1, maxLength: 25, size: 'max' });
      const property = fc.asyncProperty(steps, async (sequence) => {
        await redis.client.flushall();
        redis.clock.us = NOON_MS * 1_000;
        const said = await play(redis, sequence);
        const expected = await play(await memoryLedgerBench(), sequence);
        said.forEach((answer, at) => {
          const step = sequence[at]?.words;
          expect({ step, answer }).toEqual({ step, answer: expected[at] });
        });
      });
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    },
    TIMEOUT_MS,
  );
});
