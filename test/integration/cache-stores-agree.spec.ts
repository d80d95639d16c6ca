import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ANSWER_LIMITS as LIMITS, type AnswerStore } from '../../src/ai/reuse/store/answer.store.js';
import {
  type AnswerBench,
  memoryAnswerBench,
  redisAnswerBench,
  type RedisAnswerBench,
} from '../support/answer-bench.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const RUNS = sized(40, 2_000);
const MOST_STEPS = 60;
const TIMEOUT_MS = sized(120_000, 3_600_000);

/** One command, after the clock has moved. */
interface Step {
  readonly us: number;
  readonly run: (store: AnswerStore) => Promise<unknown>;
  readonly words: string;
}

const places = fc.record({
  shelf: fc.constantFrom('s', 'r'),
  flight: fc.constantFrom('f', 'g'),
  token: fc.constantFrom('t1', 't2', 't3'),
});
const purposes = fc.constantFrom('', 'x');
const processes = fc.constantFrom('p1', 'p2', 'p3');
const names = fc.constantFrom('a', 'b', 'c', 'd');
const texts = fc.oneof(
  fc.constantFrom('', '|', 'ü', '1|text'),
  fc.integer({ min: 0, max: 900 }).map((length) => 'x'.repeat(length)),
);
const keeps = fc.record({
  answer: names,
  forMs: fc.constantFrom(1, 1_000, 5_000, 60_000),
  shelfBytes: fc.constantFrom(300, 1_200, 3_000),
});
/** Mostly a moment; now and then just as long as something lasts, or a step back. */
const moves = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 2_000_000 }) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(
        1,
        LIMITS.interestMs - 1,
        LIMITS.interestMs,
        LIMITS.leaseMs - 1,
        LIMITS.leaseMs,
        LIMITS.tellMs,
        60_000,
      )
      .map((ms) => ms * 1_000),
  },
  { weight: 1, arbitrary: fc.integer({ min: -3_000_000, max: 0 }) },
);

function step<Command>(
  name: string,
  commands: fc.Arbitrary<Command>,
  run: (store: AnswerStore, command: Command) => Promise<unknown>,
): fc.Arbitrary<Step> {
  return fc.tuple(moves, commands).map(([us, command]) => ({
    us,
    run: (store) => run(store, command),
    words: `+${us} µs ${name} ${JSON.stringify(command)}`,
  }));
}

const tokens = fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constant('') });
const enters = fc
  .tuple(places, fc.uniqueArray(names, { maxLength: 3 }), purposes, processes, tokens)
  .map(([place, answers, purpose, process, token]) => ({
    ...place,
    ...(token !== undefined && { token }),
    ...{ answers, purpose, process },
  }));
const finishes = fc
  .tuple(places, purposes, texts, fc.option(keeps, { nil: undefined }))
  .map(([place, purpose, text, keep]) => ({ ...place, purpose, text, ...(keep !== undefined && { keep }) }));
const looks = fc.tuple(places, processes).map(([place, process]) => ({ ...place, process }));

const steps = fc.oneof(
  { weight: 6, arbitrary: step('enter', enters, (store, command) => store.enter(command)) },
  { weight: 5, arbitrary: step('finish', finishes, (store, command) => store.finish(command)) },
  { weight: 3, arbitrary: step('look', looks, (store, command) => store.look(command)) },
  {
    weight: 2,
    arbitrary: step('beat', fc.array(places, { minLength: 1, maxLength: 3 }), (store, flights) =>
      store.beat({ shelf: flights[0]?.shelf ?? 's', flights }),
    ),
  },
  { weight: 1, arbitrary: step('leave', looks, (store, command) => store.leave(command)) },
);

/** What each step answered and published. */
async function play(bench: AnswerBench, sequence: readonly Step[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const { us, run, words } of sequence) {
    bench.clock.us += us;
    answers.push([words, await run(bench.store), await bench.heard()]);
  }
  return answers;
}

describe('both stores of answers', () => {
  let server: RedisServer;
  let redis: RedisAnswerBench;
  let runs = 0;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = await redisAnswerBench(server, 'agree:');
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it(
    'answer and tell the same, whatever is asked and whenever, and no shelf exceeds its bound',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: MOST_STEPS, size: 'max' }), async (sequence) => {
          runs += 1;
          await redis.client.flushall();
          const us = 1_764_421_836_000_000 + runs;
          redis.clock.us = us;
          const memory = await memoryAnswerBench({ us });
          expect(await play(redis, sequence)).toEqual(await play(memory, sequence));
          for (const shelf of ['s', 'r']) {
            const key = `agree:an:{${shelf}}:1:answers`;
            const fields = await redis.client.hgetall(key);
            const { '#': told = '0', ...kept } = fields;
            const bytes = Object.values(kept).reduce(
              (sum, text) => sum + Buffer.byteLength(text) + LIMITS.overheadBytes,
              0,
            );
            expect(Number(told)).toBe(bytes);
            expect(bytes).toBeLessThanOrEqual(3_000);
            expect((await redis.client.zrange(key.replace('answers', 'ends'), 0, -1)).sort()).toEqual(
              Object.keys(kept).sort(),
            );
          }
        }),
        { numRuns: RUNS },
      );
    },
    TIMEOUT_MS,
  );
});
