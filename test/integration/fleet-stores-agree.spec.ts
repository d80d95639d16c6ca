import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TIERS } from '../../src/config/index.js';
import type { CellRequest, FleetStore, Topic } from '../../src/ai/fleet/fleet.store.js';
import { latencyTopic } from '../../src/ai/fleet/topics/latency.topic.js';
import { PARKING_REASONS, parkingTopic } from '../../src/ai/fleet/topics/parking.topic.js';
import { ratioTopic } from '../../src/ai/fleet/topics/ratio.topic.js';
import { type StandingChange, standingTopic } from '../../src/ai/fleet/topics/standing.topic.js';
import { USAGE_UNITS, type UsageChange, usageTopic } from '../../src/ai/fleet/topics/usage.topic.js';
import { WINDOW_UNITS, windowTopic } from '../../src/ai/fleet/topics/window.topic.js';
import { type FleetBench, memoryFleetBench, redisFleetBench, type RedisFleetBench } from '../support/fleet-bench.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const RUNS = sized(40, 2_000);
const MOST_STEPS = 60;
const TIMEOUT_MS = sized(120_000, 3_600_000);
const IDS = ['a', 'b/0/m:1'] as const;

/** One exchange, after the clock has moved. Revisions are remembered by process and cell, as processes do. */
interface Step {
  readonly us: number;
  readonly run: (store: FleetStore, seen: Map<string, number>) => Promise<unknown>;
  readonly words: string;
}

const small = fc.integer({ min: 0, max: 3 });
const spans = fc.constantFrom(0, 1, 999, 1_000, 1_001, 4_999, 5_000, 29_999, 30_000, 60_000, 150_000, 400_000);
const processes = fc.constantFrom('p1', 'p2');

/** Mostly a moment; now and then long enough for something to end, or a step back. */
const moves = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 2_000_000 }) },
  { weight: 3, arbitrary: spans.map((ms) => ms * 1_000) },
  { weight: 1, arbitrary: fc.constantFrom(605_000_000, 90_000_000_000, 700_000_000_000) },
  { weight: 1, arbitrary: fc.integer({ min: -3_000_000, max: 0 }) },
);

const standings: fc.Arbitrary<StandingChange> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('failed' as const),
      tookMs: spans,
      retryAfterMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: spans }),
      code: fc.constantFrom('timeout', 'upstream_error'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('succeeded' as const), tookMs: spans }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('claimed' as const), process: processes, leaseMs: spans }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('let-go' as const), process: processes }) },
);

const usages: fc.Arbitrary<UsageChange> = fc.oneof(
  fc.record({
    kind: fc.constant('checked' as const),
    tier: fc.constantFrom(...TIERS),
    unit: fc.constantFrom(...USAGE_UNITS),
    left: fc.constantFrom(-1, 0, 1, 50, 9_007_199_254_740_991),
  }),
  fc.record({ kind: fc.constant('unreachable' as const) }),
  fc.record({ kind: fc.constant('spent' as const), unit: fc.constantFrom(...USAGE_UNITS), amount: small }),
);

const parkings = fc.record({ reason: fc.constantFrom(...PARKING_REASONS), forMs: spans });
const windows = fc.record({
  unit: fc.constantFrom(...WINDOW_UNITS),
  limit: fc.constantFrom(0, 100),
  remaining: small,
  resetInMs: spans,
});
const samples = fc.record({ ms: small, tokens: small, isCensored: fc.boolean() }).map((sample) => ({
  ...sample,
  tokens: sample.isCensored ? 0 : sample.tokens,
}));
const ratios = fc.integer({ min: 0, max: 4_000_000 });

function stepsOf<Body, Change>(topic: Topic<Body, Change>, changes: fc.Arbitrary<Change>, most: number) {
  const aged = fc.record({ change: changes, agoMs: fc.oneof(fc.constant(0), spans) });
  const cell = fc.record({ id: fc.constantFrom(...IDS), changes: fc.array(aged, { maxLength: most, size: 'max' }) });
  const cells = fc.uniqueArray(cell, { minLength: 1, maxLength: IDS.length, selector: ({ id }) => id });
  return fc.tuple(moves, processes, cells).map(([us, from, parts]): Step => {
    const run: Step['run'] = async (store, seen) => {
      const keys = parts.map(({ id }) => `${from}/${topic.name}/${id}`);
      const requests = parts.map(({ id, changes: told }, at): CellRequest<Change> => ({
        id,
        changes: told,
        seen: seen.get(keys[at] ?? '') ?? 0,
      }));
      const answer = await store.exchange(topic, from, requests);
      answer.cells.forEach((body, at) => body && seen.set(keys[at] ?? '', body.revision));
      return answer;
    };
    return { us, run, words: `+${us} µs ${from} ${topic.name} ${JSON.stringify(parts)}` };
  });
}

const steps = fc.oneof(
  { weight: 6, arbitrary: stepsOf(standingTopic, standings, 4) },
  { weight: 1, arbitrary: stepsOf(parkingTopic, parkings, 2) },
  { weight: 2, arbitrary: stepsOf(windowTopic, windows, 4) },
  { weight: 2, arbitrary: stepsOf(usageTopic, usages, 3) },
  { weight: 1, arbitrary: stepsOf(latencyTopic, samples, 70) },
  { weight: 1, arbitrary: stepsOf(ratioTopic, ratios, 8) },
);

/** What each step answered and published. */
async function play(bench: FleetBench, sequence: readonly Step[]): Promise<unknown[]> {
  const seen = new Map<string, number>();
  const answers: unknown[] = [];
  for (const { us, run } of sequence) {
    bench.clock.us += us;
    answers.push(await run(bench.store, seen), await bench.heard());
  }
  return answers;
}

describe('the two fleet stores', () => {
  let server: RedisServer;
  let redis: RedisFleetBench;
  beforeAll(async () => {
    server = await startRedisServer();
    redis = await redisFleetBench(server, 'agree:');
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it(
    'answer and publish the same, whatever happens when',
    async () => {
      const property = fc.asyncProperty(
        fc.array(steps, { minLength: 1, maxLength: MOST_STEPS, size: 'max' }),
        async (sequence) => {
          await redis.client.flushall();
          const start = { us: redis.clock.us };
          const memory = await memoryFleetBench(start);
          const said = await play(redis, sequence);
          const expected = await play(memory, sequence);
          said.forEach((answer, index) => {
            const step = sequence[index >> 1];
            expect({ step: step?.words, answer }).toEqual({ step: step?.words, answer: expected[index] });
          });
        },
      );
      await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    },
    TIMEOUT_MS,
  );
});
