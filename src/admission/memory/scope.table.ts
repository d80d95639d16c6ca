import { ScoreSet } from '../../store/index.js';
import { ADMISSION_LIMITS } from '../admission.limits.js';
import { FlowBook } from './flow.book.js';
import type { ScopeRecord } from './scope.record.js';
import type { Window } from './window.js';

/** What is kept of a scope between commands. */
export interface KeptScope {
  /** Of the last command; it never steps back. */
  time: number;
  /** What the clock stepped back so far. */
  offset: number;
  open: number;
  /** The tag of the last grant: what a flow that comes anew starts from. */
  virtual: number;
  number: number;
  queued: number;
  queuedTokens: number;
  meanMs: number;
  pumper: string;
  pumperUntil: number;
  pumpAt: number;
  lastAt: number;
  heldUntil: number;
  leasesUntil: number;
  microUsd: number;
  tokens: number;
  /** Nothing of it is needed after this. */
  keptUntil: number;
  readonly windows: Map<string, Window>;
  readonly records: Map<string, ScopeRecord>;
  readonly leases: ScoreSet;
  readonly flows: FlowBook;
}

export interface KeptBudget {
  readonly period: number;
  readonly spent: number;
}

interface KeptBudgets {
  readonly byName: Map<string, KeptBudget>;
  keptUntil: number;
}

/** Every scope that is known. What is over is cleared away now and then. */
export class ScopeTable {
  private readonly scopes = new Map<string, KeptScope>();
  private readonly budgets = new Map<string, KeptBudgets>();
  private clearedAt = 0;

  get size(): number {
    return this.scopes.size + this.budgets.size;
  }

  find(name: string): KeptScope | undefined {
    return this.scopes.get(name);
  }

  keep(name: string, scope: KeptScope): void {
    this.scopes.set(name, scope);
  }

  budgetOf(scope: string, name: string): KeptBudget | undefined {
    return this.budgets.get(scope)?.byName.get(name);
  }

  keepBudget(scope: string, name: string, { budget, keptUntil }: { budget: KeptBudget; keptUntil: number }): void {
    const budgets = this.budgets.get(scope) ?? { byName: new Map<string, KeptBudget>(), keptUntil };
    budgets.keptUntil = keptUntil;
    budgets.byName.set(name, budget);
    this.budgets.set(scope, budgets);
  }

  /** Looks at all of them once in a while, which is little for each command. */
  clearOver(time: number): void {
    if (time < this.clearedAt + ADMISSION_LIMITS.slackMs) return;
    this.clearedAt = time;
    for (const kept of [this.scopes, this.budgets]) {
      for (const [name, { keptUntil }] of kept) if (keptUntil <= time) kept.delete(name);
    }
  }
}

export function newScope(): KeptScope {
  return {
    time: 0,
    offset: 0,
    open: 0,
    virtual: 0,
    number: 0,
    queued: 0,
    queuedTokens: 0,
    meanMs: 0,
    pumper: '',
    pumperUntil: 0,
    pumpAt: 0,
    lastAt: 0,
    heldUntil: 0,
    leasesUntil: 0,
    microUsd: 0,
    tokens: 0,
    keptUntil: 0,
    windows: new Map(),
    records: new Map(),
    leases: new ScoreSet(),
    flows: new FlowBook(),
  };
}
