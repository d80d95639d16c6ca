import type { LockLimits } from '../lock.limits.js';
import { EndingMap } from './ending.map.js';
import type { ScoreSet } from '../../store/index.js';

/** A token's place: `q` queued, `p` granted by message, `h` held, `v` revoked, `r` released but kept. */
export interface LockEntry {
  state: 'q' | 'p' | 'h' | 'v' | 'r';
  weight: number;
  readonly capacity: number;
  /** Its ticket while queued. */
  fence: number;
  readonly process: string;
  readonly description: string;
}

/** A lock that nobody holds or waits for: all that is left of it is the number its next fence must exceed. */
export interface RestingLock {
  readonly counter: number;
  /** From here on there are no entries, in µs of the clock. */
  readonly endsAt: number;
}

/** A lock with entries. Expiries and signs of life are in µs of logical time, see OpenLock. */
export interface BusyLock extends RestingLock {
  readonly weight: number;
  /** The smallest of its holders; Infinity where it has none. */
  readonly capacity: number;
  /** Logical time of the last command, and how far it was ahead of the clock. */
  readonly time: number;
  readonly offset: number;
  readonly entries: Map<string, LockEntry>;
  readonly holders: ScoreSet;
  readonly waiters: ScoreSet;
  readonly alive: ScoreSet;
}

/** At most so many things that are over are cleared away by one command; more than one command makes. */
const CLEARED_AT_ONCE = 1_000;
const LOOKED_AT_ONCE = 4;

/**
 * All locks of an in-memory store. What is over is cleared away little by little by later commands on any key, so that keys used
 * once leave nothing behind once their fence memory has passed, and there is no timer.
 */
export class LockTable {
  private readonly busy = new Map<string, BusyLock>();
  private readonly resting: EndingMap<RestingLock>;
  private readonly buriedUntil = new EndingMap<number>((until) => until);
  private unchecked = this.busy.entries();

  constructor(private readonly limits: LockLimits) {
    this.resting = new EndingMap((lock) => this.forgottenAt(lock));
  }

  /** How many things are remembered: keys that are busy or at rest, and buried tokens. */
  get size(): number {
    return this.busy.size + this.resting.size + this.buriedUntil.size;
  }

  /** Keys with entries, some of which may be over. */
  busyKeys(): IterableIterator<string> {
    return this.busy.keys();
  }

  find(key: string): BusyLock | RestingLock | undefined {
    return this.busy.get(key) ?? this.resting.get(key);
  }

  /** When its counter is forgotten, in µs of the clock. */
  forgottenAt(lock: RestingLock): number {
    return lock.endsAt + this.limits.memoryMs * 1000;
  }

  saveBusy(key: string, lock: BusyLock): void {
    this.resting.delete(key);
    this.busy.set(key, lock);
  }

  /** A counter of 0 is not worth remembering. */
  saveResting(key: string, lock: RestingLock): void {
    this.busy.delete(key);
    if (lock.counter > 0) this.resting.set(key, lock);
    else this.resting.delete(key);
  }

  bury(key: string, token: string, until: number): void {
    this.buriedUntil.set(graveOf(key, token), until);
  }

  isBuried(key: string, token: string, us: number): boolean {
    return this.buriedUntil.size > 0 && (this.buriedUntil.get(graveOf(key, token)) ?? us) > us;
  }

  clearOver(us: number): void {
    this.resting.clear(us, CLEARED_AT_ONCE);
    this.buriedUntil.clear(us, CLEARED_AT_ONCE);
    // Holders leave their locks, so hardly any busy one is ever left behind: a look at a few is enough.
    for (let look = 0; look < Math.min(LOOKED_AT_ONCE, this.busy.size); look += 1) {
      const next = this.unchecked.next();
      if (next.done === true) this.unchecked = this.busy.entries();
      else if (us >= this.forgottenAt(next.value[1])) this.busy.delete(next.value[0]);
    }
  }
}

function graveOf(key: string, token: string): string {
  return JSON.stringify([key, token]);
}
