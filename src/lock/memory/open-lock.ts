import type { LockLimits } from '../lock.limits.js';
import type { LockMessage } from '../lock.store.js';
import type { BusyLock, LockEntry, LockTable, RestingLock } from './lock.table.js';
import { ScoreSet } from '../../store/index.js';

/** What the commands of one store share. */
export interface LockGround {
  readonly table: LockTable;
  readonly limits: LockLimits;
  readonly tell: (process: string, message: LockMessage) => void;
}

/**
 * One lock during one command: what prelude.lua is to the scripts, rule by rule. Open it, change it, `finish()`.
 *
 * Its time is logical: it goes on when the clock steps back, and a gap in which no waiter could give a sign of life does not count.
 */
export class OpenLock {
  readonly time: number;
  weight: number;
  readonly entries: Map<string, LockEntry>;
  readonly holders: ScoreSet;
  readonly waiters: ScoreSet;
  readonly alive: ScoreSet;
  private latest: number;
  private smallest: number;
  /** The holder with the smallest capacity has left. */
  private isCapacityOver = false;

  constructor(
    readonly key: string,
    private readonly us: number,
    private readonly ground: LockGround,
  ) {
    const found = ground.table.find(key);
    const busy = found !== undefined && us < found.endsAt && isBusy(found) ? found : undefined;
    this.latest = found === undefined || us >= ground.table.forgottenAt(found) ? 0 : found.counter;
    this.time = busy === undefined ? us : logicalTime(busy, us, ground.limits);
    const { weight, capacity, entries, holders, waiters, alive } = busy ?? nothingHeld();
    this.weight = weight;
    this.smallest = capacity;
    this.entries = entries;
    this.holders = holders;
    this.waiters = waiters;
    this.alive = alive;
  }

  /** The largest ticket or fence so far. */
  get counter(): number {
    return this.latest;
  }

  /** Tickets and fences are one rising number; the floor is the clock, so that it rises even where the counter was lost. */
  nextNumber(): number {
    this.latest = Math.max(this.latest + 1, this.us);
    return this.latest;
  }

  nextExpiryMs(): number | undefined {
    const first = this.holders.first;
    return first === undefined ? undefined : Math.max(0, Math.ceil((first.score - this.time) / 1000));
  }

  /** The smallest capacity of all holders; Infinity where there are none. */
  get capacity(): number {
    if (!this.isCapacityOver) return this.smallest;
    this.isCapacityOver = false;
    // None is below it, and most have it.
    const least = this.smallest;
    this.smallest = Infinity;
    for (const { member } of this.holders) {
      this.smallest = Math.min(this.smallest, this.entries.get(member)?.capacity ?? Infinity);
      if (this.smallest <= least) break;
    }
    return this.smallest;
  }

  /** True if there was room: the smallest capacity of all who hold it and of this one counts. */
  enter(token: string, entry: LockEntry, leaseMs: number): boolean {
    const capacity = Math.min(entry.capacity, this.capacity);
    const weight = Math.min(entry.weight, capacity);
    if (this.weight + weight > capacity) return false;
    this.weight += weight;
    this.smallest = capacity;
    entry.weight = weight;
    entry.fence = this.nextNumber();
    this.entries.set(token, entry);
    this.holdFor(token, leaseMs);
    return true;
  }

  holdFor(token: string, milliseconds: number): void {
    this.holders.set(token, this.time + milliseconds * 1000);
  }

  /** Never shortens: a renewal that was sent before a longer one may arrive after it. */
  prolong(token: string, milliseconds: number): void {
    this.holders.set(token, Math.max(this.holders.scoreOf(token) ?? 0, this.time + milliseconds * 1000));
  }

  /** Takes out a holder. */
  drop(token: string): void {
    this.holders.delete(token);
    this.weight -= this.entries.get(token)?.weight ?? 0;
    if (this.entries.get(token)?.capacity === this.smallest) this.isCapacityOver = true;
    this.entries.delete(token);
  }

  /** Takes out a waiter. */
  forget(token: string): void {
    this.waiters.delete(token);
    this.entries.delete(token);
  }

  /** Lets those out whose lease is over and those in who come next, in the order of their tickets. */
  pump(): void {
    for (let round = 0; round < this.ground.limits.rounds; round += 1) {
      const first = this.holders.first;
      if (first === undefined || first.score > this.time) break;
      this.drop(first.member);
    }
    for (let round = 0; round < this.ground.limits.rounds; round += 1) {
      if (!this.admitFirst()) return;
    }
  }

  /** Writes the lock back. */
  finish(): void {
    const { table, limits } = this.ground;
    const isQueued = this.waiters.size > 0;
    if (this.holders.size === 0 && !isQueued) {
      table.saveResting(this.key, { counter: this.latest, endsAt: this.us });
      return;
    }
    if (isQueued) this.alive.deleteUpTo(this.time - limits.memoryMs * 1000);
    else this.alive.deleteUpTo(Infinity);
    const end = Math.max(this.holders.last?.score ?? 0, isQueued ? this.time + limits.queueMs * 1000 : this.time);
    const leftMs = Math.ceil((end - this.time) / 1000) + limits.slackMs;
    const { latest: counter, weight, capacity, time, entries, holders, waiters, alive } = this;
    const endsAt = this.us + leftMs * 1000;
    const offset = time - this.us;
    table.saveBusy(this.key, { counter, endsAt, weight, capacity, time, offset, entries, holders, waiters, alive });
  }

  /** True if the first waiter was let in, or was dead: then the next one is first. */
  private admitFirst(): boolean {
    const token = this.waiters.first?.member;
    const entry = token === undefined ? undefined : this.entries.get(token);
    if (token === undefined || entry === undefined) return false;
    if (!this.isAlive(entry.process)) {
      this.forget(token);
      return true;
    }
    if (!this.enter(token, entry, this.ground.limits.grantMs)) return false;
    this.waiters.delete(token);
    entry.state = 'p';
    const { key, ground } = this;
    const leaseMs = ground.limits.grantMs;
    ground.tell(entry.process, { kind: 'grant', key, token, fence: entry.fence, leaseMs });
    return true;
  }

  private isAlive(process: string): boolean {
    const seen = this.alive.scoreOf(process);
    return seen !== undefined && this.time - seen <= this.ground.limits.aliveMs * 1000;
  }
}

function nothingHeld(): Omit<BusyLock, keyof RestingLock | 'time' | 'offset'> {
  const [holders, waiters, alive] = [new ScoreSet(), new ScoreSet(), new ScoreSet()];
  return { weight: 0, capacity: Infinity, entries: new Map(), holders, waiters, alive };
}

function isBusy(lock: BusyLock | RestingLock): lock is BusyLock {
  return 'entries' in lock;
}

function logicalTime(lock: BusyLock, us: number, limits: LockLimits): number {
  const time = Math.max(us + lock.offset, lock.time);
  const blind = time - lock.time - limits.gapMs * 1000;
  return lock.waiters.size > 0 && blind > 0 ? time - Math.min(blind, limits.dampMs * 1000) : time;
}
