import type { Load } from './lock-worker.js';

const USUAL = { rounds: 1e9, leaseMs: 2_000, waitMs: 4_000, isScoped: false, restMs: 30 } as const;

/** Keys of the loads below whose sections write a number under each key. */
export const COUNTED_KEYS = ['one', 'long', 'read', 'a', 'b'] as const;

/** What the processes of a chaos run do: every mode, sections shorter and longer than their leases, several keys at once. */
export const CHAOS_LOADS: readonly Load[] = [
  { ...USUAL, tasks: 3, keySets: [['one']], modes: ['exclusive'], holdMs: [1, 40] },
  { ...USUAL, tasks: 1, keySets: [['long']], modes: ['exclusive'], holdMs: [200, 1_600], leaseMs: 1_200 },
  {
    ...USUAL,
    tasks: 3,
    keySets: [['read']],
    modes: ['shared', 'shared', 'shared', 'exclusive'],
    holdMs: [5, 80],
  },
  { ...USUAL, tasks: 2, keySets: [['room']], modes: [{ permits: 3 }], holdMs: [20, 150] },
  {
    ...USUAL,
    tasks: 2,
    keySets: [['a', 'b'], ['b', 'a'], ['a'], ['b']],
    modes: ['exclusive'],
    holdMs: [1, 40],
    isScoped: true,
  },
];
