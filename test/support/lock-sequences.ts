import fc from 'fast-check';
import type { LockStore } from '../../src/lock/lock.store.js';
import { PROCESSES } from './lock-bench.js';

const MOST_STEPS = 120;

/** One command on the one key, after the clock has moved. */
export interface Step {
  readonly us: number;
  readonly run: (store: LockStore, key: string, now: number) => Promise<unknown>;
  readonly words: string;
  /** It looks, and touches nothing. */
  readonly isLook?: boolean;
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

/** Random lives of one lock: all commands, by several processes, in any order, with time passing as it likes. */
export const sequences = fc.array(steps, { minLength: 1, maxLength: MOST_STEPS, size: 'max' });
