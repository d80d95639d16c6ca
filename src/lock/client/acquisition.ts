import type { AcquireCommand } from '../lock.store.js';
import type { ClientTimer } from './client.ports.js';

export interface AcquisitionRequest {
  readonly key: string;
  readonly weight: number;
  readonly capacity: number;
  readonly leaseMs: number;
  /** False: fail at once where it is busy or the store silent. */
  readonly waits: boolean;
  /** Stay held at least so long after the grant, also when released before; 0: not. */
  readonly minHoldMs: number;
  /** Lost at the latest so long after the grant. */
  readonly maxHoldMs: number;
  readonly description: string;
}

/** What becomes of an acquisition: at most one `held` or `failed`, and after `held` at most one `lost`. */
export interface AcquisitionListener {
  held(): void;
  failed(failure: AcquisitionFailure): void;
  lost(reason: LossReason): void;
}

export type AcquisitionFailure =
  { readonly kind: 'busy' } | { readonly kind: 'revoked' } | { readonly kind: 'store'; readonly error: unknown };

/**
 * expired: its time passed without a confirmed renewal · max_hold: it was held for as long as it may be · gone: the store does not
 * know it any more (flush, failover) · revoked: an operator took it
 */
export type LossReason = 'expired' | 'max_hold' | 'gone' | 'revoked';

/**
 * asking: the acquire is on its way · queued: the store knows us as a waiter · claiming: granted, but with too little time left to
 * start without a renewal · held · ended
 */
export type AcquisitionState = 'asking' | 'queued' | 'claiming' | 'held' | 'ended';

/** One wish for one lock, from the first send until it is over. Its fields are written by LockClient only. */
export class Acquisition {
  state: AcquisitionState = 'asking';
  /** Unique in the fleet; a new one after a lost place (R3). */
  token = '';
  /** The oldest place in the queue that we were told of; kept across tokens. Infinity: none yet. */
  ticket = Infinity;
  fence = 0;
  /** The newest counter under which the store said that this token is queued: grants up to it are over (R2). */
  queuedCounter = 0;
  /** When the first acquire of this token was sent. */
  askedAt = 0;
  /** Acquires of this token without an answer so far: each may still run. */
  unanswered = new Set<object>();
  /** Not held from this moment on, whatever the store says. */
  deadline = 0;
  heldSince = 0;
  #minHoldMs: number;
  holdEnd = Infinity;
  renewAt = Infinity;
  /** Raised by an extension, never lowered: a later renewal must not shorten what is promised. */
  leaseMs: number;
  /** Why the store has not answered the newest acquire or beat; undefined while it answers. */
  silence: unknown = undefined;
  /** How long until the first holder's lease ends, as of the newest answer, ms. */
  nextExpiryMs: number | undefined;
  deadlineTimer: ClientTimer | undefined;
  retryTimer: ClientTimer | undefined;

  constructor(
    readonly request: AcquisitionRequest,
    readonly listener: AcquisitionListener,
  ) {
    this.leaseMs = request.leaseMs;
    this.#minHoldMs = request.minHoldMs;
  }

  /** How long a release leaves it held in the store; undefined: not at all. */
  get keptUntil(): number | undefined {
    return this.#minHoldMs > 0 ? this.heldSince + this.#minHoldMs : undefined;
  }

  /** No work was begun under it: nothing asks for its minimum hold. */
  forgoMinimum(): void {
    this.#minHoldMs = 0;
  }

  /** Takes a fresh identity, under which nothing has been asked yet. */
  rename(token: string, now: number): void {
    this.token = token;
    this.state = 'asking';
    this.fence = 0;
    this.queuedCounter = 0;
    this.askedAt = now;
    this.unanswered = new Set();
    this.retryTimer?.cancel();
  }

  command(process: string): AcquireCommand {
    const { token, leaseMs } = this;
    const ticket = Number.isFinite(this.ticket) ? this.ticket : 0;
    const { key, weight, capacity, waits, description } = this.request;
    return { key, token, weight, capacity, leaseMs, process, ticket, waits, description };
  }

  stop(): void {
    this.state = 'ended';
    this.deadlineTimer?.cancel();
    this.retryTimer?.cancel();
  }
}
