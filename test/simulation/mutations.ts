import type { Mutation } from './mutants.js';

const client = (rule: string, file: string, from: string, to: string): Mutation => ({
  rule,
  changes: [{ file: `client/${file}`, from, to }],
});
const store = (rule: string, file: string, from: string, to: string): Mutation => ({
  rule,
  changes: [{ file, from, to }],
});

const NO_R1: Mutation['changes'][number] = {
  file: 'client/lock.client.ts',
  from: 'latestBefore(message.fence, acquisition.askedAt)',
  to: 'latestBefore(Infinity, acquisition.askedAt)',
};
const NO_R2: Mutation['changes'][number] = {
  file: 'client/lock.client.ts',
  from: 'if (message.fence <= acquisition.queuedCounter) return;',
  to: '',
};

/** Each must be noticed by the simulation. */
export const CAUGHT: readonly Mutation[] = [
  client(
    'a granted deadline counts from the receipt of the message',
    'lock.client.ts',
    'latestBefore(message.fence, acquisition.askedAt)',
    'latestBefore(0, this.environment.now())',
  ),
  client(
    'the full lease is assumed for the short one of a grant',
    'lock.client.ts',
    'validUntil(base, message.leaseMs)',
    'validUntil(base, acquisition.leaseMs)',
  ),
  client(
    'a renewed deadline counts from the receipt of the answer',
    'lock.client.ts',
    'renewed(acquisition: Acquisition, { sentAt, leaseMs }: { sentAt: number; leaseMs: number }): void {',
    'renewed(acquisition: Acquisition, { leaseMs }: { leaseMs: number }): void {\n    const sentAt = this.environment.now();',
  ),
  client(
    'clocks are trusted to the millisecond',
    'client.rules.ts',
    'return leaseMs * 0.01 + 2;',
    'return leaseMs * 0;',
  ),
  client(
    'nobody is told at the deadline',
    'tenure.ts',
    'else this.expire(',
    'else ((..._unused: unknown[]) => undefined)(',
  ),
  client(
    'a new place is taken instead of the lost one',
    'acquisition.ts',
    'const ticket = Number.isFinite(this.ticket) ? this.ticket : 0;',
    'const ticket = 0;',
  ),
  client('nobody beats', 'heartbeat.ts', 'const at = group.nextBeatAt(now, nextExpiryMs);', 'const at = Infinity;'),
  client('tokens that were given up are not buried', 'farewells.ts', 'buries ? CLIENT_RULES.tombstoneMs : 0', '0'),
  {
    rule: 'what is given up is neither said nor undone',
    changes: [
      {
        file: 'client/lock.client.ts',
        from: 'this.#end(acquisition);\n  }\n\n  /**\n   * Ends a lease',
        to: 'acquisition.stop();\n    this.#book.strike(acquisition);\n  }\n\n  /**\n   * Ends a lease',
      },
      {
        file: 'client/lock.client.ts',
        from: 'this.#farewells.say({ key, token, buries: true });\n  }\n\n  renewed',
        to: '}\n\n  renewed',
      },
    ],
  },
  store(
    'more is let in than fits',
    'memory/open-lock.ts',
    'if (this.weight + weight > this.capacity) return false;',
    '',
  ),
  store(
    'who comes passes the queue',
    'memory-lock.store.ts',
    'if (lock.waiters.size === 0) {\n    if',
    'if (lock.waiters.size >= 0) {\n    if',
  ),
  store(
    'a repeated acquire does not find itself',
    'memory-lock.store.ts',
    'const own = reclaim(lock, token, leaseMs);',
    'const own = undefined;',
  ),
  store(
    'fences are counted without the clock',
    'memory/open-lock.ts',
    'Math.max(this.latest + 1, this.us)',
    'this.latest + 1',
  ),
  store(
    'the counter is forgotten at rest',
    'memory/open-lock.ts',
    '{ counter: this.latest, endsAt: this.us }',
    '{ counter: 0, endsAt: this.us }',
  ),
  store(
    'leaving lets nobody in',
    'memory-lock.store.ts',
    'letGo(lock, token, keepMs);\n    lock.pump();',
    'letGo(lock, token, keepMs);',
  ),
  store(
    'the dead are let in',
    'memory/open-lock.ts',
    'if (!this.isAlive(entry.process)) {',
    'if (this.entries.size < 0) {',
  ),
  store(
    'a beat is no sign of life',
    'memory-lock.store.ts',
    'if (command.waiters.length > 0) lock.alive.set(command.process, lock.time);',
    '',
  ),
  store(
    'the time in which the store stood still counts',
    'memory/open-lock.ts',
    'Math.min(blind, limits.dampMs * 1000)',
    '0',
  ),
  store(
    'time follows the clock back',
    'memory/open-lock.ts',
    'Math.max(us + lock.offset, lock.time)',
    'us + lock.offset',
  ),
];

export interface CoveredTwice {
  readonly mutation: Mutation;
  readonly coveredBy: string;
}

/** Layers that cover each other: without one alone nothing goes wrong. */
export const COVERED_TWICE: readonly CoveredTwice[] = [
  {
    mutation: { rule: 'R1: the base is any command', changes: [NO_R1] },
    coveredBy: 'R2 refuses the grants for which it matters',
  },
  {
    mutation: { rule: 'R2: stale grants are believed', changes: [NO_R2] },
    coveredBy: 'R1 gives them a deadline in the past',
  },
];

export const R1_AND_R2_OFF: Mutation = { rule: 'R1 and R2 are both off', changes: [NO_R1, NO_R2] };
