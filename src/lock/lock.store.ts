/**
 * The five questions a lock client asks of the store, each answered by one atomic script. There are two implementations with the
 * same answers, state and messages: Lua on Redis, and one in this process.
 *
 * Fences, tickets and the counter F are one rising number per key (microseconds of the store's clock at least), so the order of
 * fences is the order of events. All durations are milliseconds.
 */
export interface LockStore {
  acquire(command: AcquireCommand): Promise<AcquireAnswer>;
  /** Renews leases, and tells of waiters that they live, in one round trip per key. */
  beat(command: BeatCommand): Promise<BeatAnswer>;
  /** Release, cancel and undo in one; always lets the next ones in. */
  leave(command: LeaveCommand): Promise<LeaveAnswer>;
  revoke(command: RevokeCommand): Promise<RevokeAnswer>;
  /** @param shown so many holders and waiters at most; LOCK_LIMITS.shown by default */
  inspect(key: string, shown?: number): Promise<LockState | undefined>;
  /**
   * Locks that are held or waited for, at most `limit`, in no order; for operators, not for decisions.
   * @param signal nobody waits for the answer any more
   */
  list(limit: number, signal?: AbortSignal): Promise<readonly LockState[]>;
  /**
   * Grants and revocations for this process, in any order, late, twice or never. Resolves once subscribed.
   *
   * @param resumed called when the subscription was lost and is back: what was sent in between is gone
   */
  subscribe(process: string, receive: (message: LockMessage) => void, resumed?: () => void): Promise<void>;
  /** Never fails. */
  unsubscribe(process: string): Promise<void>;
}

export interface AcquireCommand {
  readonly key: string;
  /** Unique per acquisition attempt chain: a repeated acquire with the same token finds itself. */
  readonly token: string;
  /** How much of the capacity it takes; clamped to the capacity. */
  readonly weight: number;
  /** What all who hold it together may weigh: the smallest of theirs and of this one counts, for as long as each is held. */
  readonly capacity: number;
  readonly leaseMs: number;
  /** The process's name, which is also its channel. */
  readonly process: string;
  /** A place held before, kept across tokens; 0: a new place. */
  readonly ticket: number;
  /** False: answer busy instead of queueing. */
  readonly waits: boolean;
  /** What an operator sees of the holder. */
  readonly description: string;
}

export type AcquireAnswer =
  | { readonly kind: 'granted'; readonly fence: number }
  | {
      readonly kind: 'queued';
      readonly ticket: number;
      readonly counter: number;
      readonly nextExpiryMs: number | undefined;
    }
  | { readonly kind: 'busy'; readonly counter: number; readonly nextExpiryMs: number | undefined }
  /** This token was given up before: an acquire that arrived late. */
  | { readonly kind: 'buried' }
  | { readonly kind: 'revoked' };

export interface BeatCommand {
  readonly key: string;
  readonly process: string;
  readonly renewals: readonly { readonly token: string; readonly leaseMs: number }[];
  /** Waiting tokens whose place is asked for; any makes this beat a sign of life of the process. */
  readonly waiters: readonly string[];
}

export interface BeatAnswer {
  readonly counter: number;
  readonly nextExpiryMs: number | undefined;
  /** By the order of `renewals`. */
  readonly renewals: readonly ('renewed' | 'gone' | 'revoked')[];
  /** By the order of `waiters`. */
  readonly waiters: readonly WaiterAnswer[];
}

export type WaiterAnswer =
  | { readonly kind: 'queued'; readonly ticket: number }
  | { readonly kind: 'granted'; readonly fence: number; readonly leftMs: number }
  | { readonly kind: 'gone' };

export interface LeaveCommand {
  readonly key: string;
  readonly token: string;
  /** Stay held this much longer (minimum hold); 0: leave at once. */
  readonly keepMs: number;
  /** Refuse acquires with this token for so long; 0 where none can be on its way. */
  readonly tombstoneMs: number;
}

export type LeaveAnswer = 'holder' | 'waiter' | 'unknown';

export interface RevokeCommand {
  readonly key: string;
  /** Undefined: all holders. */
  readonly token: string | undefined;
  /** `drain`: told at once, refused its renewals, passed on when it leaves or its lease ends; `now`: passed on at once. */
  readonly mode: 'drain' | 'now';
}

export interface RevokeAnswer {
  readonly revoked: number;
}

export type LockMessage =
  | {
      readonly kind: 'grant';
      readonly key: string;
      readonly token: string;
      readonly fence: number;
      readonly leaseMs: number;
    }
  | { readonly kind: 'revoke'; readonly key: string; readonly token: string; readonly fence: number };

/** For operators. */
export interface LockState {
  readonly key: string;
  /** The smallest of its holders; of the first waiter where nobody holds it. */
  readonly capacity: number;
  /** Weight of all holders, also of those left out below. */
  readonly used: number;
  /** How many wait, also those left out below. */
  readonly queued: number;
  /** Soonest to end first; at most as many as are to be shown. */
  readonly holders: readonly {
    readonly token: string;
    readonly fence: number;
    readonly weight: number;
    readonly process: string;
    readonly description: string;
    readonly leaseLeftMs: number;
    readonly state: 'held' | 'granted' | 'revoked' | 'released';
  }[];
  /** In the order of their tickets; at most as many as are to be shown. */
  readonly waiters: readonly {
    readonly token: string;
    readonly ticket: number;
    readonly process: string;
    readonly description: string;
  }[];
}
