import { cutDescription, LOCK_LIMITS, type LockLimits } from './lock.limits.js';
import type {
  AcquireAnswer,
  AcquireCommand,
  BeatAnswer,
  BeatCommand,
  LeaveAnswer,
  LeaveCommand,
  LockMessage,
  LockState,
  LockStore,
  RevokeAnswer,
  RevokeCommand,
  WaiterAnswer,
} from './lock.store.js';
import { type LockEntry, LockTable } from './memory/lock.table.js';
import { stateOf } from './memory/lock.view.js';
import { type LockGround, OpenLock } from './memory/open-lock.js';

export interface MemoryLockStoreOptions {
  /** µs since 1970, whole; the system's by default, which never steps back while the process lives. */
  readonly clock?: () => number;
  readonly limits?: LockLimits;
  /** Where the locks are; a table of its own by default. */
  readonly table?: LockTable;
}

/**
 * Locks of this process alone: the embedded store, and the executable model of the Redis one. Every command is done by the time
 * its call returns; messages arrive after the present task, never within a call.
 */
export class MemoryLockStore implements LockStore {
  private readonly clock: () => number;
  private readonly ground: LockGround;
  private readonly receivers = new Map<string, (message: LockMessage) => void>();

  constructor(options: MemoryLockStoreOptions = {}) {
    const limits = options.limits ?? LOCK_LIMITS;
    this.clock = options.clock ?? systemClock;
    const tell = (process: string, message: LockMessage): void => {
      this.tell(process, message);
    };
    this.ground = { limits, table: options.table ?? new LockTable(limits), tell };
  }

  /** How many keys and buried tokens are remembered. */
  get size(): number {
    return this.ground.table.size;
  }

  acquire(command: AcquireCommand): Promise<AcquireAnswer> {
    const us = this.clock();
    if (this.ground.table.isBuried(command.key, command.token, us)) return Promise.resolve({ kind: 'buried' });
    const lock = this.open(command.key, us);
    // Before the pump, or a process would find its own waiters dead.
    if (lock.waiters.size > 0 && lock.alive.scoreOf(command.process) !== undefined) {
      lock.alive.set(command.process, lock.time);
    }
    lock.pump();
    const answer = decide(lock, command);
    lock.finish();
    return Promise.resolve(answer);
  }

  beat(command: BeatCommand): Promise<BeatAnswer> {
    const lock = this.open(command.key, this.clock());
    if (command.waiters.length > 0) lock.alive.set(command.process, lock.time);
    const renewals = command.renewals.map(({ token, leaseMs }) => renew(lock, token, leaseMs));
    lock.pump();
    const waiters = command.waiters.map((token) => find(lock, token));
    const answer = { counter: lock.counter, nextExpiryMs: lock.nextExpiryMs(), renewals, waiters };
    lock.finish();
    return Promise.resolve(answer);
  }

  leave(command: LeaveCommand): Promise<LeaveAnswer> {
    const { key, token, keepMs, tombstoneMs } = command;
    const us = this.clock();
    if (tombstoneMs > 0) this.ground.table.bury(key, token, us + tombstoneMs * 1000);
    const lock = this.open(key, us);
    const answer = placeOf(lock, token);
    if (answer === 'waiter') lock.forget(token);
    if (answer === 'holder') letGo(lock, token, keepMs);
    lock.pump();
    lock.finish();
    return Promise.resolve(answer);
  }

  revoke({ key, token, mode }: RevokeCommand): Promise<RevokeAnswer> {
    const lock = this.open(key, this.clock());
    // What is over goes by itself.
    const alive = [...lock.holders].filter((holder) => holder.score > lock.time);
    const tokens = alive.map((holder) => holder.member).filter((holder) => holder === (token ?? holder));
    const revoked = tokens.filter((holder) => this.revokeHolder(lock, holder, mode)).length;
    lock.pump();
    lock.finish();
    return Promise.resolve({ revoked });
  }

  inspect(key: string, shown = this.ground.limits.shown): Promise<LockState | undefined> {
    return Promise.resolve(stateOf(this.open(key, this.clock()), shown));
  }

  list(limit: number): Promise<readonly LockState[]> {
    const us = this.clock();
    const found: LockState[] = [];
    for (const key of this.ground.table.busyKeys()) {
      if (found.length >= limit) break;
      const state = stateOf(new OpenLock(key, us, this.ground), this.ground.limits.shown);
      if (state !== undefined) found.push(state);
    }
    return Promise.resolve(found);
  }

  /** Nothing comes between: it is never lost, so it never comes back. */
  subscribe(process: string, receive: (message: LockMessage) => void): Promise<void> {
    this.receivers.set(process, receive);
    return Promise.resolve();
  }

  unsubscribe(process: string): Promise<void> {
    this.receivers.delete(process);
    return Promise.resolve();
  }

  private open(key: string, us: number): OpenLock {
    this.ground.table.clearOver(us);
    return new OpenLock(key, us, this.ground);
  }

  /** @returns false: nothing to take. What was released and is kept for its minimum time can only be cut short */
  private revokeHolder(lock: OpenLock, token: string, mode: RevokeCommand['mode']): boolean {
    const entry = lock.entries.get(token);
    if (entry === undefined) return false;
    const isReleased = entry.state === 'r';
    if (!isReleased) this.tell(entry.process, { kind: 'revoke', key: lock.key, token, fence: entry.fence });
    if (mode === 'now') lock.drop(token);
    else if (!isReleased) entry.state = 'v';
    return !isReleased || mode === 'now';
  }

  private tell(process: string, message: LockMessage): void {
    // Who subscribes later hears nothing of it, as with Redis.
    const receive = this.receivers.get(process);
    if (receive !== undefined)
      queueMicrotask(() => {
        receive(message);
      });
  }
}

function decide(lock: OpenLock, command: AcquireCommand): AcquireAnswer {
  const { token, ticket: earlier, leaseMs, process } = command;
  const own = reclaim(lock, token, leaseMs);
  if (own !== undefined) return own;
  const place = lock.waiters.scoreOf(token);
  if (place !== undefined) {
    lock.alive.set(process, lock.time);
    return queued(lock, place);
  }
  const entry: LockEntry = {
    state: 'h',
    weight: command.weight,
    capacity: command.capacity,
    fence: 0,
    process,
    description: cutDescription(command.description),
  };
  if (lock.waiters.size === 0 && lock.enter(token, entry, leaseMs)) return { kind: 'granted', fence: entry.fence };
  if (!command.waits) return { kind: 'busy', counter: lock.counter, nextExpiryMs: lock.nextExpiryMs() };
  const ticket = earlier === 0 ? lock.nextNumber() : earlier;
  enqueue(lock, token, { ...entry, state: 'q', fence: ticket });
  if (earlier === 0) return queued(lock, ticket);
  // An old ticket may be the first in the queue.
  lock.pump();
  return reclaim(lock, token, leaseMs) ?? queued(lock, ticket);
}

/** A holder's lease starts anew; what was revoked or released is not taken up again. */
function reclaim(lock: OpenLock, token: string, leaseMs: number): AcquireAnswer | undefined {
  const entry = lock.entries.get(token);
  if (entry === undefined || entry.state === 'q') return undefined;
  if (entry.state === 'v' || entry.state === 'r') return { kind: 'revoked' };
  entry.state = 'h';
  lock.prolong(token, leaseMs);
  return { kind: 'granted', fence: entry.fence };
}

function enqueue(lock: OpenLock, token: string, entry: LockEntry): void {
  lock.entries.set(token, entry);
  lock.waiters.set(token, entry.fence);
  lock.alive.set(entry.process, lock.time);
}

function queued(lock: OpenLock, ticket: number): AcquireAnswer {
  return { kind: 'queued', ticket, counter: lock.counter, nextExpiryMs: lock.nextExpiryMs() };
}

function renew(lock: OpenLock, token: string, leaseMs: number): 'renewed' | 'gone' | 'revoked' {
  const entry = lock.entries.get(token);
  if (entry === undefined || entry.state === 'q' || entry.state === 'r') return 'gone';
  if (entry.state === 'v') return 'revoked';
  entry.state = 'h';
  lock.prolong(token, leaseMs);
  return 'renewed';
}

function find(lock: OpenLock, token: string): WaiterAnswer {
  const entry = lock.entries.get(token);
  if (entry === undefined) return { kind: 'gone' };
  if (entry.state === 'q') return { kind: 'queued', ticket: entry.fence };
  const leftMs = Math.floor(((lock.holders.scoreOf(token) ?? lock.time) - lock.time) / 1000);
  return { kind: 'granted', fence: entry.fence, leftMs };
}

function placeOf(lock: OpenLock, token: string): LeaveAnswer {
  const entry = lock.entries.get(token);
  if (entry === undefined) return 'unknown';
  return entry.state === 'q' ? 'waiter' : 'holder';
}

function letGo(lock: OpenLock, token: string, keepMs: number): void {
  const entry = lock.entries.get(token);
  if (entry === undefined || entry.state === 'r') return;
  if (keepMs === 0) {
    lock.drop(token);
    return;
  }
  entry.state = 'r';
  lock.holdFor(token, keepMs);
}

/** Never steps back while the process lives. */
function systemClock(): number {
  return Math.floor((performance.timeOrigin + performance.now()) * 1000);
}
