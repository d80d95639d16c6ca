import type { Change, Mutation } from './mutants.js';

const CLIENT = 'client/lock.client.ts';

export const NO_R1: Change = {
  file: CLIENT,
  from: 'latestBefore(message.fence, acquisition.askedAt)',
  to: 'latestBefore(Infinity, acquisition.askedAt)',
};
const NO_R2: Change = { file: CLIENT, from: 'if (message.fence <= acquisition.queuedCounter) return;', to: '' };
export const CANCEL_UNSAID: Change = {
  file: CLIENT,
  from: 'this.#end(acquisition);\n  }\n\n  /**\n   * Ends a lease',
  to: 'acquisition.stop();\n    this.#book.strike(acquisition);\n  }\n\n  /**\n   * Ends a lease',
};
export const UNDO_UNSAID: Change = {
  file: CLIENT,
  from: 'this.#farewells.say({ key, token, buries: true });\n  }\n\n  renewed',
  to: '}\n\n  renewed',
};
export const REFUSALS_IGNORED: Change = {
  file: CLIENT,
  from: "if (acquisition.state === 'held') this.#lose(acquisition, answer);",
  to: "if (acquisition.state === 'held') return;",
};
const GRANTS_UNTOLD: Change = {
  file: 'memory/open-lock.ts',
  from: "ground.tell(entry.process, { kind: 'grant', key, token, fence: entry.fence, leaseMs });",
  to: 'void [key, leaseMs];',
};
const GRANTS_UNASKED: Change = {
  file: CLIENT,
  from: "if (answer.kind === 'granted') this.#grant(acquisition, answer.fence, validUntil(sentAt, answer.leftMs), false);\n      else if",
  to: "if (answer.kind === 'granted') return;\n      if",
};
const REVOCATIONS_UNTOLD: Change = {
  file: 'memory-lock.store.ts',
  from: "if (!isReleased) this.tell(entry.process, { kind: 'revoke', key: lock.key, token, fence: entry.fence });",
  to: '',
};
const LATE_GRANTS_KEPT: Change = {
  file: CLIENT,
  from: 'else if (acquisition === undefined) this.undo(message.key, message.token);',
  to: 'else if (acquisition === undefined) return;',
};
const LATE_ANSWERS_KEPT: Change = {
  file: 'client/inquiry.ts',
  from: 'else if (isPlace(outcome.answer)) this.listener.undo(request.key, token);',
  to: '',
};

export interface Layer {
  readonly rule: string;
  readonly coveredBy: string;
  readonly change: Change;
  /** What breaks the other layer, too. */
  readonly other: Change;
}

/** Layers that cover each other: without the one alone nothing goes wrong, without both the simulation notices. */
export const LAYERS: readonly Layer[] = [
  {
    rule: 'grants are not told',
    coveredBy: 'the next beat asks for them',
    change: GRANTS_UNTOLD,
    other: GRANTS_UNASKED,
  },
  {
    rule: 'a beat does not ask for grants',
    coveredBy: 'a message tells of them, or the lease of a grant ends and a place is asked for anew',
    change: GRANTS_UNASKED,
    other: GRANTS_UNTOLD,
  },
  {
    rule: 'revocations are not told',
    coveredBy: 'the next renewal is refused',
    change: REVOCATIONS_UNTOLD,
    other: REFUSALS_IGNORED,
  },
  {
    rule: 'a grant that is told after its token was given up is not undone',
    coveredBy: 'the leave that gave it up',
    change: LATE_GRANTS_KEPT,
    other: LATE_ANSWERS_KEPT,
  },
  {
    rule: 'a place that is answered after its token was given up is not undone',
    coveredBy: 'the leave that gave it up, and the grant that comes of it is undone',
    change: LATE_ANSWERS_KEPT,
    other: LATE_GRANTS_KEPT,
  },
];

/** R1 and R2 cover each other for one grant that is told after its time; it takes two more coincidences than a seed has. */
export const STALE_GRANT_LAYERS: readonly (Mutation & { readonly coveredBy: string })[] = [
  { rule: 'R1 is off', coveredBy: 'R2 refuses it', changes: [NO_R1] },
  { rule: 'R2 is off', coveredBy: 'R1 gives it a deadline in the past', changes: [NO_R2] },
];
export const NO_STALE_GRANT_LAYER: Mutation = { rule: 'R1 and R2 are both off', changes: [NO_R1, NO_R2] };

/** What costs time only: without it somebody waits longer, within what another rule bounds. */
export const COMFORTS: readonly Mutation[] = [
  {
    rule: 'R4: a grant with little time left is begun before it is renewed',
    changes: [{ file: CLIENT, from: '(isFull ? 0 : CLIENT_RULES.minimumLeftMs)', to: '0' }],
  },
  {
    rule: 'a leave without an answer is not repeated: its lease ends',
    changes: [
      {
        file: 'client/farewells.ts',
        from: '} else this.#repeat(open);',
        to: "} else this.#close(open, { kind: 'silent' });",
      },
    ],
  },
  {
    rule: 'a subscription that is back asks nothing: the next beat does',
    changes: [
      {
        file: CLIENT,
        from: 'group.hasten(this.environment.now());\n      this.#heartbeat.beat(group);',
        to: 'void group;',
      },
    ],
  },
  {
    rule: 'a beat without an answer is not repeated soon: the next one comes anyway',
    changes: [{ file: 'client/heartbeat.ts', from: 'this.arm(group, RETRY_MS);', to: 'void [group, RETRY_MS];' }],
  },
  {
    rule: 'a waiter does not ask when the first lease ends: the next beat does',
    changes: [
      {
        file: 'client/key.group.ts',
        from: 'nextExpiryMs === undefined ? Infinity : nextExpiryMs + 2',
        to: 'Infinity',
      },
    ],
  },
  {
    rule: 'a holder that is said to be queued goes on: its renewals are refused',
    changes: [
      {
        file: CLIENT,
        from: "else if (answer.kind !== 'granted' && acquisition.fence <= counter) this.#lose(acquisition, 'gone');",
        to: '',
      },
    ],
  },
  {
    rule: 'what is over is let out before renewals and not after: whoever renews so late has given up',
    changes: [
      {
        file: 'memory-lock.store.ts',
        from: 'const renewals = command.renewals',
        to: 'lock.pump();\n    const renewals = command.renewals',
      },
    ],
  },
];
