import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Lease, LockBusyError, type LockOptions, LockService, LockTimeoutError } from '../../lock/index.js';
import { CONVERSATION_SETTINGS, CONVERSATION_STORE, type ConversationSettings } from '../conversation.options.js';
import type { ConversationStore, Place } from '../store/index.js';
import { turnInProgress } from './turn.errors.js';

/** Beyond its deadline a turn has so long to be ended, ms; a run that hangs blocks nobody longer. */
const END_MS = 30_000;
/** For how long a lock may be held without a turn to show for it: one that is being planned, or has just ended, ms. */
const SETTLE_MS = 1_000;
/** What a refused caller is told to wait, ms. */
const RETRY_AFTER_MS = 1_000;

export interface Patience {
  /** Queue up behind the turn that runs. */
  readonly waits: boolean;
  /** The longest wait, ms. */
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** One lock per conversation: its holder alone writes to the log. */
@Injectable()
export class ConversationLocks {
  constructor(
    private readonly locks: LockService,
    @Inject(CONVERSATION_STORE) private readonly store: Pick<ConversationStore, 'find'>,
    @Inject(CONVERSATION_SETTINGS)
    private readonly settings: Pick<ConversationSettings, 'leaseMs' | 'requestDeadlineMs' | 'longestQueue'>,
  ) {}

  /** @throws ApiError turn_in_progress, the signal's reason, and what LockService.acquire() throws */
  async acquire(place: Place, patience: Patience): Promise<Lease> {
    const free = await this.tryAcquire(place);
    if (free !== undefined) return free;
    if (patience.waits) return this.#queue(place, patience);
    const running = await this.#running(place);
    if (running !== undefined) throw turnInProgress(running, RETRY_AFTER_MS);
    return this.#wait(place, { ...patience, waitMs: Math.min(SETTLE_MS, patience.waitMs) });
  }

  /** @returns undefined: somebody has it */
  tryAcquire(place: Place): Promise<Lease | undefined> {
    return this.locks.tryAcquire(keyOf(place), this.#options());
  }

  /** Whether somebody has it, or is about to. */
  async isHeld(place: Place): Promise<boolean> {
    return (await this.locks.inspect(keyOf(place))) !== undefined;
  }

  async #queue(place: Place, patience: Patience): Promise<Lease> {
    const mode = { permits: this.settings.longestQueue };
    const seat = await this.locks.tryAcquire(queueOf(place), { ...this.#options(), mode });
    if (seat === undefined) throw turnInProgress(await this.#running(place), RETRY_AFTER_MS);
    try {
      return await this.#wait(place, patience);
    } finally {
      await seat.release();
    }
  }

  async #wait(place: Place, { waitMs, signal }: Patience): Promise<Lease> {
    try {
      const lease = await this.locks.acquire(keyOf(place), { ...this.#options(), waitMs, ...(signal && { signal }) });
      this.#prolong(lease);
      return lease;
    } catch (error) {
      if (!(error instanceof LockTimeoutError || error instanceof LockBusyError)) throw error;
      throw turnInProgress(await this.#running(place), RETRY_AFTER_MS);
    }
  }

  /** A lease that was handed over is short until its first renewal, and a turn outlasts that: a store that fails before would cost it. */
  #prolong(lease: Lease): void {
    const { leaseMs } = this.settings;
    if (lease.remainingMs() >= leaseMs / 2) return;
    // What is not answered goes with the next renewals, and the loss of a lease is told by its signal.
    lease.extend(leaseMs).catch(() => undefined);
  }

  async #running(place: Place): Promise<string | undefined> {
    return (await this.store.find(place))?.activeTurn;
  }

  #options(): LockOptions {
    const { leaseMs, requestDeadlineMs } = this.settings;
    return { leaseMs, maxHoldMs: requestDeadlineMs + END_MS, template: 'conversation:*', description: 'a turn' };
  }
}

function keyOf(place: Place): string {
  return `conversation:${nameOf(place)}`;
}

function queueOf(place: Place): string {
  return `conversation-queue:${nameOf(place)}`;
}

/** Says nothing of owner and id: operators see the names of locks. */
function nameOf({ owner, id }: Place): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, id]))
    .digest('base64url');
}
