import type { ScopeLimits } from '../../src/admission/admission.rules.js';
import { type AcquireCommand, type AdmissionStore, LEASE_MS, type Scope } from '../../src/admission/admission.store.js';
import { scopeOf } from './admission-bench.js';
import type { AdmissionStep } from './admission-sequences.js';

export interface AdmissionLife {
  readonly limits: ScopeLimits;
  readonly changed: ScopeLimits | undefined;
  readonly steps: readonly AdmissionStep[];
}

type Run = (store: AdmissionStore, scope: Scope) => Promise<unknown>;

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const by = { process: 'p1', seen: false };

const step = (passMs: number, words: string, run: Run): AdmissionStep => ({ passMs, words, run });
const life = (limits: ScopeLimits, ...steps: readonly AdmissionStep[]): AdmissionLife => ({
  limits,
  changed: undefined,
  steps,
});

function acquire(passMs: number, id: string, rest: Partial<AcquireCommand> = {}): AdmissionStep {
  const wish = { flow: 'a', weight: 1, tokens: 0, microUsd: 0, waitMs: 0, leaseMs: LEASE_MS };
  return step(passMs, `acquire ${id}`, (store, scope) => store.acquire({ ...by, ...wish, ...rest, scope, id }));
}

/** @param elsewhere limits of another pod, amid a rollout */
function settle(
  passMs: number,
  id: string,
  took: { tokens?: number; microUsd?: number } = {},
  elsewhere?: ScopeLimits,
): AdmissionStep {
  return step(passMs, `settle ${id}`, (store, { name, ...scope }) => {
    const told = elsewhere === undefined ? { name, ...scope } : scopeOf(elsewhere, name);
    return store.settle({ ...by, tokens: 0, microUsd: 0, ...took, scope: told, id });
  });
}

const cancel = (passMs: number, id: string): AdmissionStep =>
  step(passMs, `cancel ${id}`, (store, scope) => store.cancel({ ...by, scope, id }));
const beat = (passMs: number, ...ids: readonly string[]): AdmissionStep =>
  step(passMs, `beat ${ids.join()}`, (store, scope) => store.beat({ ...by, scope, ids }));

const waiting = { waitMs: 5 * MINUTE };

/** What chance seldom comes upon. */
export const RARE_LIVES: readonly AdmissionLife[] = [
  // A store that knows nothing of a scope that was used before: no burst.
  life(
    { windows: [{ windowMs: MINUTE, requests: 60 }] },
    ...Array.from({ length: 5 }, (_, number) => acquire(10, `p1-${number}`, { seen: true })),
  ),
  // A calendar that goes round more than once.
  life(
    { windows: [{ windowMs: MINUTE, requests: 2 }] },
    ...Array.from({ length: 12 }, (_, number) => [
      acquire(20_000, `p1-${number}`),
      acquire(10, `p2-${number}`),
      acquire(10, `p3-${number}`),
    ]).flat(),
  ),
  // Room that comes back after a grant was handed out ahead of its time.
  life(
    { windows: [{ windowMs: 2_000, tokens: 1_000, guardMs: 20 }], tokenRule: 'cmp' },
    acquire(0, 'p1-1', { tokens: 500 }),
    acquire(0, 'p1-2', { tokens: 500 }),
    settle(0, 'p1-1', { tokens: 100 }),
    acquire(10, 'p1-3', { ...waiting, tokens: 500 }),
    acquire(10, 'p1-4', { ...waiting, tokens: 400 }),
    beat(1_850, 'p1-2', 'p1-3', 'p1-4'),
    settle(10, 'p1-2', { tokens: 0 }),
    beat(0, 'p1-3', 'p1-4'),
  ),
  // A new day.
  life(
    { budgets: [{ unit: 'usd', period: 'day', limit: 1_000 }] },
    acquire(0, 'p1-1', { microUsd: 900 }),
    settle(0, 'p1-1', { microUsd: 900 }),
    acquire(0, 'p1-2', { microUsd: 900 }),
    acquire(DAY, 'p1-2', { microUsd: 900 }),
  ),
  // Two pods whose limits differ.
  life(
    { windows: [{ windowMs: MINUTE, tokens: 1_000 }] },
    acquire(0, 'p1-1', { tokens: 600 }),
    settle(0, 'p1-1', { tokens: 600 }, { windows: [{ windowMs: 1_000, tokens: 1_000 }] }),
    acquire(100, 'p1-2', { tokens: 500 }),
  ),
  // A queue of one flow, beside one that does not wait.
  life(
    { concurrency: 1, windows: [{ windowMs: 10_000, requests: 4 }] },
    acquire(0, 'p1-1'),
    acquire(10, 'p1-2', waiting),
    acquire(10, 'p1-3', waiting),
    acquire(10, 'p1-4', { flow: 'b' }),
    settle(10, 'p1-1'),
    acquire(0, 'p1-5', { flow: 'b' }),
    cancel(0, 'p1-3'),
    beat(0, 'p1-2', 'p1-3'),
    settle(0, 'p1-2'),
    acquire(0, 'p1-6'),
    acquire(0, 'p1-7'),
    cancel(0, 'p1-6'),
    acquire(0, 'p1-8'),
    settle(0, 'p1-8'),
    acquire(0, 'p1-9'),
    settle(0, 'p1-9'),
    acquire(0, 'p1-10'),
  ),
  // A flow that comes to one that has had much.
  life(
    { concurrency: 1, windows: [{ windowMs: 10_000, requests: 100 }] },
    ...[1, 2, 3, 4].flatMap((number) => [acquire(10, `p1-${number}`), settle(0, `p1-${number}`)]),
    acquire(0, 'p1-5'),
    ...[6, 7].map((number) => acquire(0, `p1-${number}`, waiting)),
    ...[8, 9, 10].map((number) => acquire(0, `p1-${number}`, { ...waiting, flow: 'b' })),
    ...[5, 8, 6, 9, 7].map((number) => settle(0, `p1-${number}`)),
  ),
  // A large call first in the queue, and a small one that comes.
  life(
    { windows: [{ windowMs: 10_000, tokens: 1_000 }] },
    acquire(0, 'p1-1', { tokens: 600 }),
    acquire(0, 'p1-2', { ...waiting, tokens: 900 }),
    acquire(0, 'p1-3', { tokens: 100 }),
    acquire(0, 'p1-4', { tokens: 100, flow: 'b' }),
  ),
];
