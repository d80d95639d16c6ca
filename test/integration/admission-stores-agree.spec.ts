import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ScopeNews } from '../../src/admission/index.js';
import {
  type AdmissionBench,
  EndlessTable,
  memoryBench,
  redisBench,
  type RedisAdmissionBench,
  scopeOf,
} from '../support/admission-bench.js';
import { admissionMoments, admissionSequences } from '../support/admission-sequences.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const RUNS = sized(30, 2_000);
const TIMEOUT_MS = sized(120_000, 3_600_000);

describe('MemoryAdmissionStore and RedisAdmissionStore', () => {
  let server: RedisServer;
  let redis: RedisAdmissionBench;
  let memory: AdmissionBench;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = await redisBench(server, 'agree:');
    memory = await memoryBench(redis.clock, new EndlessTable());
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it(
    'give the same answers, show the same state, and send the same messages',
    async () => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(admissionSequences, async ({ limits, changed, steps }) => {
          runs += 1;
          for (const [index, step] of steps.entries()) {
            const scope = scopeOf((index > steps.length / 2 ? changed : undefined) ?? limits, `scope:${runs}`);
            redis.clock.us += step.passMs * 1_000;
            const answers = [await step.run(redis.store, scope), await step.run(memory.store, scope)];
            const states = [await redis.store.inspect(scope), await memory.store.inspect(scope)];
            expect([step.words, answers[0], states[0]]).toEqual([step.words, answers[1], states[1]]);
          }
          expect(byProcess(await redis.heard())).toEqual(byProcess(await memory.heard()));
        }),
        { numRuns: RUNS, plugins: [fc.interruptAfterTimeLimit(0.8 * TIMEOUT_MS, { failOnInterrupt: true })] },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'agree on what is asked in one moment as on one after the other',
    async () => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(admissionMoments, async ({ limits, moments }) => {
          runs += 1;
          const scopes = limits.map((each, index) => ({
            ...scopeOf(each, `moment:${runs}:${index}`),
            slot: `slot:${runs}`,
          }));
          for (const { passMs, run } of moments) {
            redis.clock.us += passMs * 1_000;
            const [ours, theirs] = [redis.store, memory.store].map((store) => scopes.map((scope) => run(store, scope)));
            for (const [index, scope] of scopes.entries()) {
              const found = summary(await Promise.all(ours?.[index] ?? []));
              expect(found).toEqual(summary(await Promise.all(theirs?.[index] ?? [])));
              expect(await redis.store.inspect(scope)).toEqual(await memory.store.inspect(scope));
            }
          }
        }),
        {
          numRuns: sized(20, 1_000),
          plugins: [fc.interruptAfterTimeLimit(0.8 * TIMEOUT_MS, { failOnInterrupt: true })],
        },
      );
    },
    TIMEOUT_MS,
  );
});

/** What each command was answered, and what all of them brought besides. */
function summary(answers: readonly ScopeNews[]): unknown {
  const own = answers.map(({ notices: _notices, bookings: _bookings, pumpInMs: _pumpInMs, ...answer }) => answer);
  const notices = answers.flatMap((answer) => answer.notices);
  const booked = answers.flatMap(({ bookings }) => bookings);
  const sums = new Map<string, number>();
  for (const { unit, period, spentBefore, spentAfter } of booked) {
    sums.set(`${unit} ${period}`, (sums.get(`${unit} ${period}`) ?? 0) + spentAfter - spentBefore);
  }
  return { own, notices, sums };
}

/** Channels have no order among each other. */
function byProcess(heard: Awaited<ReturnType<AdmissionBench['heard']>>): unknown {
  return [...heard].sort(([one], [other]) => one.localeCompare(other));
}
