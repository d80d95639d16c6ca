import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { unescapeText } from '../../src/lock/lock.keys.js';
import { LOCK_LIMITS } from '../../src/lock/lock.limits.js';
import type { LockStore } from '../../src/lock/lock.store.js';
import type { LockTable } from '../../src/lock/memory/lock.table.js';
import {
  EndlessTable,
  memoryBench,
  type MemoryBench,
  PROCESSES,
  redisBench,
  type RedisBench,
} from '../support/lock-bench.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const RUNS = sized(40, 1_000);
const MOST_STEPS = 120;
const TIMEOUT_MS = sized(60_000, 3_600_000);

/** One command on the one key, after the clock has moved. */
interface Step {
  readonly us: number;
  readonly run: (store: LockStore, key: string, now: number) => Promise<unknown>;
  readonly words: string;
}

const processes = fc.constantFrom(...PROCESSES);
const numbers = fc.integer({ min: 0, max: 3 });
const leases = fc.constantFrom(1_000, 3_000, 30_000);

/** Mostly less than a beat or so; at times a long silence; now and then a step back. */
const passed = fc.oneof(
  { weight: 14, arbitrary: fc.integer({ min: 0, max: 300_000 }) },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 5_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -20_000_000, max: 80_000_000 }) },
);

const acquires = fc
  .record({
    process: processes,
    number: numbers,
    weight: fc.constantFrom(1, 1, 2, 3, 8),
    capacity: fc.constantFrom(1, 3, 3, 3, 8),
    leaseMs: leases,
    age: fc.oneof(
      { weight: 9, arbitrary: fc.constant(-1) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 5_000_000 }) },
    ),
    waits: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    description: fc.string({ maxLength: 6, unit: 'binary' }),
  })
  .map(({ number, age, ...command }) => ({
    words: `acquire ${JSON.stringify({ number, age, ...command })}`,
    run: (store: LockStore, key: string, now: number) =>
      store.acquire({ ...command, key, token: `${command.process}-${number}`, ticket: age < 0 ? 0 : now - age }),
  }));

const beats = fc
  .record({
    process: processes,
    renewed: fc.array(numbers, { maxLength: 3 }),
    asked: fc.array(numbers, { maxLength: 3 }),
  })
  .map(({ process, renewed, asked }) => ({
    words: `beat ${process} renews ${renewed.join()} asks ${asked.join()}`,
    run: (store: LockStore, key: string) =>
      store.beat({
        key,
        process,
        renewals: renewed.map((number, index) => ({ token: `${process}-${number}`, leaseMs: 1_000 + 2_000 * index })),
        waiters: asked.map((number) => `${process}-${number}`),
      }),
  }));

const leaves = fc
  .record({
    process: processes,
    number: numbers,
    keepMs: fc.constantFrom(0, 0, 0, 0, 0, 700),
    tombstoneMs: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 60_000),
  })
  .map(({ process, number, ...rest }) => ({
    words: `leave ${process}-${number} ${JSON.stringify(rest)}`,
    run: (store: LockStore, key: string) => store.leave({ key, token: `${process}-${number}`, ...rest }),
  }));

const revokes = fc
  .record({
    token: fc.option(fc.constantFrom('p1-1', 'p2-2', 'p3-3'), { nil: undefined }),
    mode: fc.constantFrom('drain', 'now'),
  })
  .map((command) => ({
    words: `revoke ${command.token ?? 'all'} ${command.mode}`,
    run: (store: LockStore, key: string) => store.revoke({ key, ...command }),
  }));

const steps: fc.Arbitrary<Step> = fc
  .tuple(
    passed,
    fc.oneof(
      { weight: 42, arbitrary: acquires },
      { weight: 28, arbitrary: beats },
      { weight: 26, arbitrary: leaves },
      { weight: 4, arbitrary: revokes },
    ),
  )
  .map(([us, command]) => ({ us, ...command }));

describe('MemoryLockStore and RedisLockStore', () => {
  let server: RedisServer;
  let redis: RedisBench;
  let memory: MemoryBench;

  beforeAll(async () => {
    server = await startRedisServer();
    redis = await redisBench(server, 'agree:');
    memory = await memoryBench(redis.clock, new EndlessTable(LOCK_LIMITS));
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it(
    'give the same answers, keep the same state as long, and send the same messages',
    async () => {
      let runs = 0;
      const sequences = fc.array(steps, { minLength: 1, maxLength: MOST_STEPS, size: 'max' });
      await fc.assert(
        fc.asyncProperty(sequences, async (sequence) => {
          runs += 1;
          const key = `k${runs}`;
          for (const step of sequence) await expectSame(step, key);
          expect(inOrder(await redis.heard())).toEqual(inOrder(await memory.heard()));
        }),
        { numRuns: RUNS, plugins: [fc.interruptAfterTimeLimit(0.8 * TIMEOUT_MS, { failOnInterrupt: true })] },
      );
    },
    TIMEOUT_MS,
  );

  async function expectSame(step: Step, key: string): Promise<void> {
    redis.clock.us += step.us;
    const now = redis.clock.us;
    const [seen, expected] = [await step.run(redis.store, key, now), await step.run(memory.store, key, now)];
    expect({ step: step.words, answer: seen }).toEqual({ step: step.words, answer: expected });
    const lives = redis.redis.lives;
    expect(await stateInRedis(key)).toEqual(stateInMemory(memory.table, key));
    // A buried acquire touches nothing.
    if (!isBuried(seen)) expectLives(lives.slice(0, 4), livesInMemory(memory.table, key, now));
    expect(await redis.store.inspect(key)).toEqual(await memory.store.inspect(key));
  }

  async function stateInRedis(key: string): Promise<unknown> {
    const name = `agree:lk:{${key}}`;
    const [fields, holders, waiters, alive] = await Promise.all([
      redis.client.hgetall(name),
      ...['e', 'q', 'a'].map((suffix) => scores(`${name}:${suffix}`)),
    ]);
    const { c, x, w, cap, o, t, q, ...entries } = fields;
    if (c === undefined) return undefined;
    const [counter, endsAt] = [Number(c), Number(x)];
    if (w === undefined) return { counter, endsAt };
    const numbers = {
      weight: Number(w),
      capacity: Number(cap),
      offset: Number(o),
      time: Number(t),
      isQueued: q === '1',
    };
    return { counter, endsAt, ...numbers, entries: entriesOf(entries), holders, waiters, alive };
  }

  async function scores(name: string): Promise<readonly unknown[]> {
    const flat = await redis.client.zrange(name, 0, -1, 'WITHSCORES');
    return flat.flatMap((member, index) => (index % 2 === 0 ? [{ member, score: Number(flat[index + 1]) }] : []));
  }
});

function entriesOf(fields: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  const entries = Object.entries(fields).map(([name, value]) => {
    const [state, weight, fence, process, description = ''] = value.split('|');
    const entry = {
      state,
      weight: Number(weight),
      fence: Number(fence),
      process,
      description: unescapeText(description),
    };
    return [name.slice('e:'.length), entry] as const;
  });
  return Object.fromEntries(entries);
}

function stateInMemory(table: LockTable, key: string): unknown {
  const lock = table.find(key);
  if (lock === undefined || !('entries' in lock)) return lock;
  const { entries, holders, waiters, alive, ...rest } = lock;
  const sets = { holders: [...holders], waiters: [...waiters], alive: [...alive] };
  return { ...rest, isQueued: waiters.size > 0, entries: Object.fromEntries(entries), ...sets };
}

/** How long Redis may keep its keys, ms; -2: there is no such key. */
function livesInMemory(table: LockTable, key: string, now: number): readonly number[] {
  const lock = table.find(key);
  if (lock === undefined) return [-2, -2, -2, -2];
  const left = (lock.endsAt - now) / 1000;
  const whole = left + LOCK_LIMITS.memoryMs;
  if (!('entries' in lock)) return [whole, -2, -2, -2];
  return [whole, ...[lock.holders, lock.waiters, lock.alive].map((set) => (set.size > 0 ? left : -2))];
}

function expectLives(seen: readonly number[], expected: readonly number[]): void {
  const isSame = expected.every((life, index) => {
    const other = seen[index] ?? Number.NaN;
    // Real time passes between the script and the look at its keys.
    return life < 0 ? other === life : other <= life && other > life - 900;
  });
  expect({ seen, isSame }).toEqual({ seen, isSame: true });
}

function isBuried(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'buried';
}

/** Channels have no order among each other. */
function inOrder(heard: readonly (readonly [string, unknown])[]): readonly unknown[] {
  return PROCESSES.map((process) => heard.filter(([receiver]) => receiver === process));
}
