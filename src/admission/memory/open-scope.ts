import { ADMISSION_LIMITS } from '../admission.limits.js';
import type { AdmissionMessage, Notice, Scope, ScopeNews } from '../admission.store.js';
import { BudgetBook } from './budget.book.js';
import { correctFlow } from './flow.correction.js';
import type { GrantedRecord, ScopeRecord, WaitingRecord } from './scope.record.js';
import { ScopeRoom } from './scope.room.js';
import { type KeptScope, newScope, type ScopeTable } from './scope.table.js';
import { isRefunded } from './window.js';

/** What the commands of one store share. */
export interface AdmissionGround {
  readonly table: ScopeTable;
  readonly tell: (process: string, message: AdmissionMessage) => void;
}

/** Who asks, and when. */
export interface Asker {
  /** '' where it is nobody. */
  readonly process: string;
  readonly seen: boolean;
  readonly localMs?: number | undefined;
  readonly ms: number;
}

export type Wish = Omit<WaitingRecord, 'state' | 'deadline' | 'number' | 'expectedAt' | 'rule'>;

/** A scope at one time, to be changed: open it, sweep, change, pump, finish; as the scripts do. */
export class OpenScope {
  readonly room: ScopeRoom;
  readonly budgets: BudgetBook;
  /** What is kept of it, as it stands now. */
  readonly kept: KeptScope;
  readonly isNew: boolean;
  private readonly eraMs: number;
  private readonly notices = new Map<string, Notice[]>();

  constructor(
    private readonly scope: Scope,
    private readonly asker: Asker,
    private readonly ground: AdmissionGround,
  ) {
    const { rules, name } = scope;
    const found = ground.table.find(name);
    this.isNew = found === undefined;
    this.kept = found ?? newScope();
    this.kept.offset = Math.max(this.kept.offset, this.kept.time - asker.ms);
    this.kept.time = asker.ms + this.kept.offset;
    this.eraMs = Math.max(ADMISSION_LIMITS.eraMs, ...rules.windows.map(({ spanMs }) => spanMs));
    this.kept.flows.enter(Math.floor(this.kept.time / this.eraMs));
    this.room = new ScopeRoom(rules, this.kept, !this.isNew || asker.seen);
    if (asker.localMs !== undefined) this.room.pace(Math.floor(asker.localMs));
    this.budgets = new BudgetBook(ground.table, name, rules.budgets, this.kept.time);
  }

  recordOf(id: string): ScopeRecord | undefined {
    return this.kept.records.get(id);
  }

  lease(id: string, until: number): void {
    this.kept.leases.set(id, until);
    this.kept.leasesUntil = Math.max(this.kept.leasesUntil, until);
  }

  /** Ends what nobody gives signs of life for: what was granted is settled as it was estimated. */
  sweep(): void {
    const { leases, time } = this.kept;
    for (let round = 0; round < ADMISSION_LIMITS.rounds; round += 1) {
      const { first } = leases;
      if (first === undefined || first.score > time) return;
      const record = this.recordOf(first.member);
      if (record?.state === 'granted') this.settle(first.member, record, { ...record, endedAt: first.score });
      else if (record?.state === 'waiting') this.lapse(first.member, record);
      else this.#drop(first.member);
      this.kept.pumpAt = time;
    }
  }

  /** True where the first waiter may have to be looked at. */
  enqueue(id: string, wish: Wish, { at, rule, waitMs }: { at: number; rule: string; waitMs: number }): boolean {
    const { kept } = this;
    const { flows } = kept;
    kept.number += 1;
    const place = { deadline: kept.time + waitMs, number: kept.number, expectedAt: at, rule };
    const isFirst = flows.queueOf(wish.flow) === undefined;
    kept.records.set(id, { ...wish, state: 'waiting', ...place });
    this.lease(id, kept.time + wish.leaseMs);
    this.reserve(wish, 1);
    flows.enqueue(wish.flow, { ...wish, id, number: kept.number }, this.startOf(wish.flow));
    kept.queued += 1;
    kept.queuedTokens += wish.tokens;
    return kept.queued === 1 || (isFirst && flows.active.first?.member === wish.flow);
  }

  /** The tag that a flow starts from which does not wait. */
  startOf(flow: string): number {
    return Math.max(this.kept.virtual, this.kept.flows.historyOf(flow).tag);
  }

  /** Gives the flow's next tag. */
  grant(id: string, wish: Wish, at: number, tag: number): number {
    const { kept, room } = this;
    const { flow, weight, tokens, process, microUsd, leaseMs } = wish;
    const cost = room.costOf(1, tokens, room.expected(kept.flows.historyOf(flow).meanMs));
    const charge = { tokens, atMs: at, tokenRule: this.scope.rules.tokenRule };
    for (const window of room.windows) window.grant(charge);
    kept.open += 1;
    kept.virtual = Math.max(kept.virtual, tag);
    kept.lastAt = at;
    const record = { flow, weight, process, microUsd, leaseMs, cost, ...charge, windows: room.windows };
    kept.records.set(id, { state: 'granted', ...record });
    this.lease(id, at + leaseMs);
    return tag + cost / weight;
  }

  settle(id: string, record: GrantedRecord, took: { tokens: number; microUsd: number; endedAt: number }): void {
    this.#close(id, record);
    this.budgets.book(took.microUsd, took.tokens);
    for (const window of this.#chargedOn(record)) window.settle(record, took.tokens, took.endedAt);
    const counted = isRefunded(record.tokenRule) ? took.tokens : Math.max(took.tokens, record.tokens);
    const durationMs = Math.max(0, took.endedAt - record.atMs);
    correctFlow(this.kept, record, {
      cost: this.room.costOf(1, counted, durationMs),
      durationMs,
      slots: this.room.slots,
    });
  }

  /** As if it had never been granted. */
  undo(id: string, record: GrantedRecord): void {
    this.#close(id, record);
    for (const window of this.#chargedOn(record)) window.undo(record);
    correctFlow(this.kept, record, { cost: 0, durationMs: undefined, slots: this.room.slots });
  }

  /** It waits no longer; nobody is told. */
  abandon(id: string, record: WaitingRecord): void {
    this.#drop(id);
    this.reserve(record, -1);
    this.dequeue(id, record, this.kept.flows.active.scoreOf(record.flow) ?? 0);
  }

  lapse(id: string, record: WaitingRecord): void {
    this.abandon(id, record);
    this.tell(record.process, { kind: 'lapsed', id });
  }

  cancelled(id: string): void {
    this.kept.records.set(id, { state: 'cancelled' });
    this.lease(id, this.kept.time + ADMISSION_LIMITS.tombstoneMs);
  }

  dequeue(id: string, record: WaitingRecord, tag: number): void {
    this.kept.queued -= 1;
    this.kept.queuedTokens -= record.tokens;
    this.kept.flows.dequeue(record.flow, { id, tokens: record.tokens }, tag);
  }

  reserve(amounts: { microUsd: number; tokens: number }, sign: 1 | -1): void {
    this.kept.microUsd += sign * amounts.microUsd;
    this.kept.tokens += sign * amounts.tokens;
  }

  tell(process: string, notice: Notice): void {
    const notices = this.notices.get(process) ?? [];
    notices.push(notice);
    this.notices.set(process, notices);
  }

  /** Its own grant is its answer. */
  untell(id: string): void {
    const own = this.notices.get(this.asker.process) ?? [];
    const place = own.findIndex((notice) => notice.id === id);
    if (place >= 0) own.splice(place, 1);
  }

  /** Keeps everything and tells who was let in. */
  finish(): ScopeNews {
    const { kept } = this;
    if (kept.queued === 0) Object.assign(kept, { pumper: '', pumperUntil: 0, pumpAt: 0 });
    const isPumper = this.#pumps();
    this.#keep();
    for (const [process, notices] of this.notices) {
      if (process === this.asker.process) continue;
      this.ground.tell(process, { scope: this.scope.name, nowMs: kept.time, notices });
    }
    return {
      nowMs: kept.time,
      pumpInMs: isPumper ? Math.max(1, kept.pumpAt - kept.time) : undefined,
      notices: this.notices.get(this.asker.process) ?? [],
      bookings: this.budgets.bookings,
    };
  }

  #pumps(): boolean {
    const { kept } = this;
    const { process } = this.asker;
    if (kept.queued === 0 || process === '') return false;
    if (kept.pumper !== process && kept.time < kept.pumperUntil) return false;
    kept.pumper = process;
    kept.pumperUntil = kept.time + ADMISSION_LIMITS.pumperMs;
    return true;
  }

  #keep(): void {
    const { kept } = this;
    const { slackMs, budgetMs } = ADMISSION_LIMITS;
    const isMoneyOut = kept.open + kept.queued > 0 && this.scope.rules.budgets.length > 0;
    const keepMs = Math.max(
      2 * this.eraMs + slackMs,
      kept.leasesUntil - kept.time + slackMs,
      isMoneyOut ? budgetMs : 0,
    );
    kept.keptUntil = kept.time + keepMs;
    this.ground.table.keep(this.scope.name, kept);
    this.budgets.finish();
  }

  #close(id: string, record: GrantedRecord): void {
    this.#drop(id);
    this.kept.open -= 1;
    this.reserve(record, -1);
  }

  #drop(id: string): void {
    this.kept.records.delete(id);
    this.kept.leases.delete(id);
  }

  /** What it holds of windows that are not among the rules any more is given back at once. */
  #chargedOn(record: GrantedRecord) {
    const isHeld = record.tokenRule === 'safe' || record.tokenRule === 'cmp';
    return record.windows.filter((window) => {
      const isKnown = this.room.windows.includes(window);
      if (!isKnown && isHeld) window.held -= record.tokens;
      return isKnown;
    });
  }
}
