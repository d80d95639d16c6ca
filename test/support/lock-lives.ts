import type { AcquireCommand } from '../../src/lock/lock.store.js';
import { acquire, processOf } from './lock-bench.js';
import type { Step } from './lock-sequences.js';

const step = (ms: number, words: string, run: Step['run']): Step => ({ us: ms * 1_000, words, run });
const acquires = (ms: number, token: string, rest: Partial<AcquireCommand> = {}): Step =>
  step(ms, `acquire ${token}`, (store, key) => acquire(store, token, { ...rest, key }));
const leaves = (ms: number, token: string, keepMs = 0): Step =>
  step(ms, `leave ${token} ${keepMs}`, (store, key) => store.leave({ key, token, keepMs, tombstoneMs: 0 }));
const asks = (ms: number, token: string): Step =>
  step(ms, `beat ${token}`, (store, key) =>
    store.beat({ key, process: processOf(token), renewals: [], waiters: [token] }),
  );
const renews = (ms: number, token: string): Step =>
  step(ms, `renew ${token}`, (store, key) =>
    store.beat({ key, process: processOf(token), renewals: [{ token, leaseMs: 3_000 }], waiters: [] }),
  );
const revokes = (ms: number, mode: 'drain' | 'now'): Step =>
  step(ms, `revoke ${mode}`, (store, key) => store.revoke({ key, token: undefined, mode }));
const inspects = (ms: number): Step => ({
  ...step(ms, 'inspect', (store, key) => store.inspect(key)),
  isLook: true,
});

/** Long enough that a process without a sign of life is forgotten, short enough that no gap is forgiven. */
const BEATS_OF_A_MINUTE = Array.from({ length: 100 }, () => asks(650, 'p2-1'));

/** What chance hardly ever brings about: one lock each. */
export const RARE_LIVES: readonly (readonly Step[])[] = [
  // What is released and kept is neither renewed, nor revoked, nor released again, alone or beside others.
  ...([[], [acquires(1, 'p3-1', { capacity: 3 })]] as const).map((others) => [
    acquires(0, 'p1-1', { capacity: 3 }),
    ...others,
    ...[leaves(1, 'p1-1', 700), renews(1, 'p1-1'), leaves(1, 'p1-1'), revokes(1, 'drain'), inspects(1)],
    ...[acquires(1, 'p1-1', { capacity: 3 }), acquires(900, 'p2-1', { capacity: 3 })],
  ]),
  // It can be cut short.
  [acquires(0, 'p1-1'), leaves(1, 'p1-1', 700), revokes(1, 'now'), inspects(1), acquires(1, 'p2-1')],
  // A queue that outlived its end is not there.
  [
    acquires(0, 'p1-1', { leaseMs: 1_000 }),
    acquires(1, 'p2-1'),
    inspects(1_500),
    inspects(20_000),
    acquires(1, 'p3-1'),
  ],
  // Three permits, of which one comes back; and a holder of all.
  [
    ...['p1-1', 'p2-1', 'p3-1'].map((token) => acquires(1, token, { capacity: 3 })),
    ...[leaves(1, 'p2-1'), inspects(1), acquires(1, 'p2-2', { capacity: 3, weight: 3 }), inspects(1)],
  ],
  // Many of a large capacity between the smallest one, which goes, and the next; then that one's lease is over, and so is all.
  [
    acquires(0, 'p1-1', { capacity: 30, leaseMs: 1_000 }),
    ...Array.from({ length: 20 }, (_, index) => acquires(1, `p2-${index}`, { capacity: 60, leaseMs: 20_000 })),
    acquires(1, 'p3-1', { capacity: 40, leaseMs: 25_000 }),
    acquires(1, 'p3-3', { capacity: 60, leaseMs: 28_000 }),
    ...[leaves(1, 'p1-1'), inspects(1), acquires(1, 'p3-2', { capacity: 50, weight: 30 }), inspects(1)],
    ...[acquires(30_000, 'p1-2', { capacity: 70, waits: false }), inspects(1)],
  ],
  // Nor does a lease that is over count any more, for whoever looks.
  [acquires(0, 'p1-1', { capacity: 3, leaseMs: 1_000 }), acquires(1, 'p2-1', { capacity: 5 }), inspects(1_100)],
  // Who is over is not revoked, and told nothing.
  [acquires(0, 'p1-1', { capacity: 3, leaseMs: 1_000 }), acquires(1, 'p2-1', { capacity: 3 }), revokes(1_100, 'drain')],
  // Who is refused, or gives up, leaves no capacity behind.
  [
    ...[acquires(0, 'p1-1', { capacity: 3 }), acquires(1, 'p2-1', { capacity: 1, waits: false }), inspects(1)],
    ...[acquires(1, 'p3-1', { capacity: 1 }), inspects(1), leaves(1, 'p3-1'), acquires(1, 'p2-2', { capacity: 3 })],
  ],
  // A queue that its holder's lease left behind, and whose capacity is the own one.
  [
    ...[acquires(0, 'p1-1', { capacity: 3, leaseMs: 1_000 }), acquires(1, 'p2-1', { capacity: 1, weight: 3 })],
    ...[inspects(1), inspects(1_100)],
  ],
  // A process that was forgotten while it waited behind others asks for its place again. The longest comes last.
  [
    acquires(0, 'p1-1', { leaseMs: 600_000 }),
    ...[acquires(1, 'p2-1'), acquires(1, 'p3-1')],
    ...BEATS_OF_A_MINUTE,
    ...[acquires(1, 'p3-1'), asks(1, 'p2-1')],
  ],
];
