import { ADMISSION_LIMITS } from '../admission.limits.js';
import type { WindowRule } from '../admission.rules.js';
import type { AdmissionStore, Scope } from '../admission.store.js';
import { MemoryAdmissionStore } from '../memory-admission.store.js';
import { ScopeRoom } from '../memory/scope.room.js';
import { type KeptScope, newScope, ScopeTable } from '../memory/scope.table.js';
import type { Room, Window } from '../memory/window.js';
import type { CallEnd, ClaimRequest } from './claim.js';

interface OpenedScope {
  readonly kept: KeptScope;
  readonly windows: readonly Window[];
}

/**
 * A store of this process alone, which knows as well what this process was let in for by the shared one. Counting that costs no
 * script, and a few additions for each call and window.
 */
export class LocalStore {
  readonly store: AdmissionStore;
  readonly #table = new ScopeTable();

  /** @param now the local clock, ms */
  constructor(private readonly now: () => number) {
    this.store = new MemoryAdmissionStore({ clock: () => this.now() * 1_000, table: this.#table });
  }

  /** The shared store has let a call into this scope. */
  begun(scope: Scope, { tokens, holdMs }: ClaimRequest): CallEnd {
    const { kept, windows } = this.#open(scope, holdMs);
    const charge = { tokens, atMs: kept.time, tokenRule: scope.rules.tokenRule };
    for (const window of windows) window.begin(charge);
    kept.open += 1;
    return (taken) => {
      // It has lasted for so long that it is forgotten.
      if (this.#table.find(scope.name) !== kept) return;
      for (const window of this.#open(scope).windows) {
        if (taken === undefined) window.unbegin(charge);
        else window.end(charge, taken, kept.time);
      }
      kept.open -= 1;
    };
  }

  /** Takes all room of the scope but so much, until a window of it is over. @param since by the local clock */
  leave(scope: Scope, since: number, roomIn: (rule: WindowRule) => Room): void {
    const { windows } = this.#open(scope);
    for (const [index, rule] of scope.rules.windows.entries()) {
      windows[index]?.leave(roomIn(rule), since + rule.spanMs);
    }
  }

  #open({ name, rules }: Scope, holdMs = 0): OpenedScope {
    const now = Math.floor(this.now());
    this.#table.clearOver(now);
    const kept = this.#table.find(name) ?? newScope();
    kept.time = Math.max(kept.time, now);
    const { windows } = new ScopeRoom(rules, kept, true);
    const longestMs = Math.max(holdMs, ...rules.windows.map(({ spanMs }) => spanMs));
    kept.keptUntil = Math.max(kept.keptUntil, kept.time + longestMs + ADMISSION_LIMITS.slackMs);
    this.#table.keep(name, kept);
    return { kept, windows };
  }
}
