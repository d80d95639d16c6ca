import { plainName } from './admission.keys.js';
import type {
  AcquireAnswer,
  AcquireCommand,
  AdmissionMessage,
  AdmissionStore,
  BeatAnswer,
  BeatCommand,
  CancelAnswer,
  CancelCommand,
  HoldCommand,
  LearnCommand,
  Place,
  Scope,
  ScopeCommand,
  ScopeNews,
  ScopeState,
  SettleAnswer,
  SettleCommand,
} from './admission.store.js';
import { periodEnd } from './budget.period.js';
import { acquireIn } from './memory/acquisition.js';
import { type AdmissionGround, type Asker, OpenScope } from './memory/open-scope.js';
import { pump } from './memory/pump.js';
import { ScopeTable } from './memory/scope.table.js';

export interface MemoryAdmissionStoreOptions {
  /** µs since 1970; the system's by default, which never steps back while the process lives. */
  readonly clock?: () => number;
  /** Where the scopes are; a table of its own by default. */
  readonly table?: ScopeTable;
}

/**
 * Scopes of this process alone: the embedded store, the local share while Redis is down, and the executable model of the Redis one.
 * Every command is done by the time its call returns; messages arrive after the present task, never within a call.
 */
export class MemoryAdmissionStore implements AdmissionStore {
  private readonly clock: () => number;
  private readonly ground: AdmissionGround;
  private readonly receivers = new Map<string, (message: AdmissionMessage) => void>();

  constructor(options: MemoryAdmissionStoreOptions = {}) {
    this.clock = options.clock ?? systemClock;
    const tell = (process: string, message: AdmissionMessage): void => {
      setImmediate(() => this.receivers.get(process)?.(message));
    };
    this.ground = { table: options.table ?? new ScopeTable(), tell };
  }

  /** How many scopes and budgets are remembered. */
  get size(): number {
    return this.ground.table.size;
  }

  acquire(command: AcquireCommand): Promise<AcquireAnswer> {
    plainName('an id', command.id);
    const scope = this.change(command);
    scope.sweep();
    return Promise.resolve(acquireIn(scope, { ...command, waitMs: Math.floor(command.waitMs) }));
  }

  settle(command: SettleCommand): Promise<SettleAnswer> {
    const scope = this.change(command);
    const record = scope.recordOf(plainName('an id', command.id));
    if (record?.state === 'granted') scope.settle(command.id, record, { endedAt: scope.kept.time, ...command });
    scope.sweep();
    pump(scope);
    const kind = record?.state === 'granted' ? 'settled' : record?.state === 'waiting' ? 'waiting' : 'gone';
    return Promise.resolve({ kind, ...scope.finish() });
  }

  cancel(command: CancelCommand): Promise<CancelAnswer> {
    const scope = this.change(command);
    scope.sweep();
    const record = scope.recordOf(plainName('an id', command.id));
    if (record?.state === 'granted') scope.undo(command.id, record);
    if (record?.state === 'waiting') scope.abandon(command.id, record);
    scope.cancelled(command.id);
    pump(scope);
    const kind = record === undefined || record.state === 'cancelled' ? 'unknown' : record.state;
    return Promise.resolve({ kind, ...scope.finish() });
  }

  beat(command: BeatCommand): Promise<BeatAnswer> {
    const scope = this.change(command);
    // Before what is silent is swept away.
    for (const id of command.ids) {
      const record = scope.recordOf(plainName('an id', id));
      if (record !== undefined && record.state !== 'cancelled') scope.lease(id, scope.kept.time + record.leaseMs);
    }
    scope.sweep();
    pump(scope);
    const places = command.ids.map((id) => placeOf(scope, id));
    return Promise.resolve({ places, ...scope.finish() });
  }

  hold(command: HoldCommand): Promise<ScopeNews> {
    const scope = this.change(command);
    scope.sweep();
    scope.kept.heldUntil = Math.max(scope.kept.heldUntil, scope.kept.time + Math.ceil(command.forMs));
    pump(scope);
    return Promise.resolve(scope.finish());
  }

  learn(command: LearnCommand): Promise<ScopeNews> {
    const scope = this.change(command);
    for (const limit of command.limits) {
      const window = scope.room.windows.find(({ windowMs }) => windowMs === limit.windowMs);
      window?.learn(limit, Math.ceil(command.forMs));
    }
    scope.sweep();
    pump(scope);
    return Promise.resolve(scope.finish());
  }

  inspect(scope: Scope): Promise<ScopeState> {
    const opened = this.open(scope, { process: '', seen: false });
    opened.sweep();
    pump(opened);
    if (!opened.isNew) opened.finish();
    const { kept, room, budgets } = opened;
    return Promise.resolve({
      nowMs: kept.time,
      windows: room.usage,
      open: kept.open,
      concurrency: scope.rules.concurrency,
      queued: kept.queued,
      reserved: { microUsd: kept.microUsd, tokens: kept.tokens },
      budgets: scope.rules.budgets.map((budget, index) => ({
        ...budget,
        spent: budgets.spent[index] ?? 0,
        endsAtMs: periodEnd(budget.period, kept.time),
      })),
      heldForMs: Math.max(0, kept.heldUntil - kept.time),
    });
  }

  /** Nothing comes between: it is never lost, so it never comes back. */
  subscribe(process: string, receive: (message: AdmissionMessage) => void): Promise<void> {
    this.receivers.set(plainName('a process', process), receive);
    return Promise.resolve();
  }

  unsubscribe(process: string): Promise<void> {
    this.receivers.delete(process);
    return Promise.resolve();
  }

  private change({ scope, process, seen, localMs }: ScopeCommand): OpenScope {
    return this.open(scope, { process: plainName('a process', process), seen, localMs });
  }

  private open(scope: Scope, asker: Omit<Asker, 'ms'>): OpenScope {
    const ms = Math.floor(this.clock() / 1000);
    this.ground.table.clearOver(ms);
    return new OpenScope(scope, { ...asker, ms }, this.ground);
  }
}

function placeOf(scope: OpenScope, id: string): Place {
  const record = scope.recordOf(id);
  if (record?.state === 'granted') return { kind: 'granted', atMs: record.atMs };
  return record?.state === 'waiting' ? { kind: 'waiting' } : { kind: 'gone' };
}

/** µs of a clock that only goes on. */
function systemClock(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000);
}
