import fc from 'fast-check';
import { type ScopeLimits } from '../../src/admission/admission.rules.js';
import type { AdmissionStore, Scope, ScopeNews } from '../../src/admission/admission.store.js';
import { PODS } from './admission-bench.js';

const MOST_STEPS = 120;

/** One command on the one scope, after the clock has moved. */
export interface AdmissionStep {
  readonly passMs: number;
  readonly words: string;
  readonly run: (store: AdmissionStore, scope: Scope) => Promise<unknown>;
}

const processes = fc.constantFrom(...PODS);
const numbers = fc.integer({ min: 0, max: 7 });
const amounts = fc.constantFrom(0, 1, 40, 100, 300, 900, 1_200);
const seen = fc.boolean();
/** Mostly this process has let nothing in by itself. */
const localMs = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  0,
  400.5,
  3_000,
  100_000,
);

/** Mostly little; at times a long silence; now and then a step back. */
const passed = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 60 }) },
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 1_500 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 12_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -20_000, max: 2_000_000 }) },
);

const acquire = {
  number: numbers,
  flow: fc.constantFrom('a', 'b', 'c:{}|', ''),
  weight: fc.constantFrom(1, 1, 2, 4, 0.5),
  tokens: amounts,
  microUsd: amounts,
  waitMs: fc.constantFrom(0, 0, 150, 1_000, 5_000, 60_000),
  leaseMs: fc.constantFrom(9_000, 9_000, 60_000),
};

const acquires = fc
  .record({
    process: processes,
    ...acquire,
    seen,
    localMs,
  })
  .map(({ number, ...command }) => ({
    words: `acquire ${number} ${JSON.stringify(command)}`,
    run: (store: AdmissionStore, scope: Scope) =>
      store.acquire({ ...command, scope, id: `${command.process}-${number}` }),
  }));

const settles = fc
  .record({ process: processes, number: numbers, tokens: amounts, microUsd: amounts, seen })
  .map(({ number, ...command }) => ({
    words: `settle ${number} ${JSON.stringify(command)}`,
    run: (store: AdmissionStore, scope: Scope) =>
      store.settle({ ...command, scope, id: `${command.process}-${number}` }),
  }));

const cancels = fc.record({ process: processes, number: numbers, seen }).map(({ number, ...command }) => ({
  words: `cancel ${number} ${JSON.stringify(command)}`,
  run: (store: AdmissionStore, scope: Scope) => store.cancel({ ...command, scope, id: `${command.process}-${number}` }),
}));

const beats = fc
  .record({ process: processes, numbers: fc.array(numbers, { maxLength: 8 }), seen, localMs })
  .map(({ numbers: beaten, ...command }) => ({
    words: `beat ${beaten.join()} ${JSON.stringify(command)}`,
    run: (store: AdmissionStore, scope: Scope) =>
      store.beat({ ...command, scope, ids: beaten.map((number) => `${command.process}-${number}`) }),
  }));

const holds = fc
  .record({ process: processes, forMs: fc.constantFrom(0, 100, 1_500.5, 10_000), seen })
  .map((command) => ({
    words: `hold ${JSON.stringify(command)}`,
    run: (store: AdmissionStore, scope: Scope) => store.hold({ ...command, scope }),
  }));

const learns = fc
  .record({
    process: processes,
    forMs: fc.constantFrom(100, 3_000, 30_000),
    requests: fc.constantFrom(undefined, 1, 3),
    tokens: fc.constantFrom(undefined, 100, 500),
    seen,
  })
  .map(({ requests, tokens, ...command }) => ({
    words: `learn ${String(requests)} ${String(tokens)} ${JSON.stringify(command)}`,
    run: (store: AdmissionStore, scope: Scope) =>
      store.learn({
        ...command,
        scope,
        limits: scope.rules.windows.map(({ windowMs }) => ({ windowMs, requests, tokens })),
      }),
  }));

const steps: fc.Arbitrary<AdmissionStep> = fc
  .tuple(
    passed,
    fc.oneof(
      { weight: 40, arbitrary: acquires },
      { weight: 24, arbitrary: settles },
      { weight: 10, arbitrary: cancels },
      { weight: 14, arbitrary: beats },
      { weight: 2, arbitrary: holds },
      { weight: 3, arbitrary: learns },
    ),
  )
  .map(([passMs, command]) => ({ passMs, ...command }));

const windows = fc.record({
  windowMs: fc.constantFrom(500, 2_000, 60_000),
  requests: fc.constantFrom(undefined, 1, 3, 20),
  tokens: fc.constantFrom(undefined, 300, 1_000, 5_000),
  guardMs: fc.constantFrom(0, 20, 300),
  burst: fc.constantFrom(1, 1, 0.1),
});

const limits: fc.Arbitrary<ScopeLimits> = fc.record({
  windows: fc.uniqueArray(windows, { maxLength: 2, selector: ({ windowMs }) => windowMs }),
  tokenRule: fc.constantFrom('safe', 'safe', 'adm', 'cmp', 'own'),
  concurrency: fc.constantFrom(undefined, 1, 2, 5),
  budgets: fc.uniqueArray(
    fc.record({
      unit: fc.constantFrom('usd', 'tokens'),
      period: fc.constantFrom('day', 'month'),
      limit: fc.constantFrom(0, 1_000, 5_000, 100_000),
    }),
    { maxLength: 2, selector: ({ unit, period }) => `${unit} ${period}` },
  ),
  lookAheadMs: fc.constantFrom(undefined, 0, 50),
});

/** Random lives of one scope: all commands, by several processes, in any order; half-way the limits change, as in a rollout. */
export const admissionSequences = fc.record({
  limits,
  changed: fc.option(limits, { nil: undefined, freq: 4 }),
  steps: fc.array(steps, { minLength: 1, maxLength: MOST_STEPS, size: 'max' }),
});

/** What one process asks of a scope in one moment. */
export interface AdmissionMoment {
  readonly passMs: number;
  readonly run: (store: AdmissionStore, scope: Scope) => readonly Promise<ScopeNews>[];
}

const ASKER = PODS[0];

const moments: fc.Arbitrary<AdmissionMoment> = fc.record({
  passMs: passed,
  run: fc.oneof(
    fc
      .array(fc.record(acquire), { minLength: 1, maxLength: 8 })
      .map(
        (commands) => (store: AdmissionStore, scope: Scope) =>
          commands.map(({ number, ...command }) =>
            store.acquire({ ...command, scope, process: ASKER, seen: true, id: `${ASKER}-${number}` }),
          ),
      ),
    fc
      .array(fc.record({ number: numbers, tokens: amounts, microUsd: amounts }), { minLength: 1, maxLength: 8 })
      .map(
        (commands) => (store: AdmissionStore, scope: Scope) =>
          commands.map(({ number, ...command }) =>
            store.settle({ ...command, scope, process: ASKER, seen: true, id: `${ASKER}-${number}` }),
          ),
      ),
  ),
});

/** Random lives of two scopes of one slot, of which everything is asked at the same moment. */
export const admissionMoments = fc.record({
  limits: fc.tuple(limits, limits),
  moments: fc.array(moments, { minLength: 1, maxLength: 30, size: 'max' }),
});
