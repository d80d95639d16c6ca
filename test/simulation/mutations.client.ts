import { inClient, type Mutation } from './mutants.js';
import { CANCEL_UNSAID, NO_R1, REFUSALS_IGNORED, UNDO_UNSAID } from './mutations.layers.js';

/** Broken rules of the client's side, each of which the simulation must notice. */
export const CLIENT_MUTATIONS: readonly Mutation[] = [
  inClient(
    'a granted deadline counts from the receipt of the message',
    'lock.client.ts',
    'latestBefore(message.fence, acquisition.askedAt)',
    'latestBefore(0, this.environment.now())',
  ),
  inClient(
    'the full lease is assumed for the short one of a grant',
    'lock.client.ts',
    'validUntil(base, message.leaseMs)',
    'validUntil(base, acquisition.leaseMs)',
  ),
  inClient(
    'an acquired deadline counts from the receipt of the answer',
    'lock.client.ts',
    'const deadline = validUntil(sentAt, acquisition.request.leaseMs);',
    'const deadline = validUntil(this.environment.now() + 0 * sentAt, acquisition.request.leaseMs);',
  ),
  inClient(
    'a renewed deadline counts from the receipt of the answer',
    'lock.client.ts',
    'renewed(acquisition: Acquisition, { sentAt, leaseMs }: { sentAt: number; leaseMs: number }): void {',
    'renewed(acquisition: Acquisition, { leaseMs }: { leaseMs: number }): void {\n    const sentAt = this.environment.now();',
  ),
  inClient(
    'the time that a beat says is left counts from its receipt',
    'lock.client.ts',
    'validUntil(sentAt, answer.leftMs)',
    'validUntil(this.environment.now() + 0 * sentAt, answer.leftMs)',
  ),
  inClient(
    'clocks are trusted to the millisecond',
    'client.rules.ts',
    'return leaseMs * 0.01 + 2;',
    'return leaseMs * 0;',
  ),
  inClient(
    'time stands still while the machine is suspended',
    '../../store/process/suspend-aware.clock.ts',
    'this.#suspendedMs += ahead - this.#ahead;',
    '',
  ),
  inClient(
    'a grant is begun although its time has passed',
    'lock.client.ts',
    'if (deadline > this.environment.now() + (isFull ? 0 : CLIENT_RULES.minimumLeftMs)) {',
    'if (deadline > 0 || isFull) {',
  ),
  inClient(
    'nobody is told at the deadline',
    'tenure.ts',
    'else this.expire(',
    'else ((..._unused: unknown[]) => undefined)(',
  ),
  inClient(
    'a late renewal shortens the lease',
    'tenure.ts',
    'if (capped <= acquisition.deadline) return;',
    'if (capped === acquisition.deadline) return;',
  ),
  inClient(
    'the longest hold does not bound the first deadline',
    'tenure.ts',
    'acquisition.deadline = Math.min(deadline, acquisition.holdEnd);',
    'acquisition.deadline = deadline;',
  ),
  inClient(
    'the longest hold does not bound renewals',
    'tenure.ts',
    'const capped = Math.min(deadline, acquisition.holdEnd);',
    'const capped = deadline;',
  ),
  inClient(
    'leases are not renewed',
    'tenure.ts',
    'acquisition.renewAt = deadline >= acquisition.holdEnd ? Infinity : renewAt;',
    'acquisition.renewAt = deadline >= acquisition.holdEnd ? renewAt : Infinity;',
  ),
  inClient(
    'an extension is forgotten by the next renewal',
    'heartbeat.ts',
    'acquisition.leaseMs = Math.max(acquisition.leaseMs, leaseMs);',
    'acquisition.leaseMs = leaseMs;',
  ),
  inClient(
    'an extension that is not answered counts as one that is',
    'heartbeat.ts',
    "isAnswered ? 'extended' : 'silent'",
    "isAnswered ? 'extended' : 'extended'",
  ),
  inClient(
    'who does not wait claims on and on',
    'lock.client.ts',
    'if (!acquisition.request.waits || isFinal(error)) this.unanswered(acquisition, error);',
    '',
  ),
  inClient(
    'a new place is taken instead of the lost one',
    'acquisition.ts',
    'const ticket = Number.isFinite(this.ticket) ? this.ticket : 0;',
    'const ticket = 0;',
  ),
  inClient('nobody beats', 'heartbeat.ts', 'const at = group.nextBeatAt(now, nextExpiryMs);', 'const at = Infinity;'),
  inClient('tokens that were given up are not buried', 'farewells.ts', 'buries ? CLIENT_RULES.tombstoneMs : 0', '0'),
  inClient(
    'a late word of the acquire ends the minimum hold',
    'farewells.ts',
    'farewell: Object.assign({}, earlier?.farewell, farewell),',
    'farewell,',
  ),
  inClient(
    'a minimum hold is not asked for',
    'lock.client.ts',
    'this.#end(acquisition, acquisition.keptUntil);',
    'this.#end(acquisition);',
  ),
  inClient(
    'R3: a lost place is retaken under the old token',
    'lock.client.ts',
    'this.#book.enter(acquisition, this.environment.now());\n    this.#inquiry.ask(acquisition);\n  }\n\n  #lose',
    "acquisition.state = 'asking';\n    this.#inquiry.ask(acquisition);\n  }\n\n  #lose",
  ),
  inClient(
    'a lost place is not noticed',
    'lock.client.ts',
    "else if (answer.kind === 'gone') this.#requeue(acquisition);",
    '',
  ),
  inClient(
    'a renewal without an answer is not repeated',
    'key.group.ts',
    'acquisition.renewAt = now + CLIENT_RULES.renewalRetryMs;',
    'acquisition.renewAt = Infinity;',
  ),
  inClient(
    'an acquire without an answer is not repeated',
    'inquiry.ts',
    "if (acquisition.state === 'asking') this.ask(acquisition);",
    '',
  ),
  { rule: 'R1: any command counts as one before the grant', changes: [NO_R1] },
  { rule: 'a refused renewal ends nothing', changes: [REFUSALS_IGNORED] },
  { rule: 'what is given up is not said', changes: [CANCEL_UNSAID] },
  { rule: 'what is given up is neither said nor undone', changes: [CANCEL_UNSAID, UNDO_UNSAID] },
  {
    rule: 'several keys are taken in any order',
    changes: [{ file: 'lock.options.ts', from: 'new Set(checked)].sort();', to: 'new Set(checked)];' }],
  },
];
