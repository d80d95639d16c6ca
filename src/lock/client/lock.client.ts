import { LockStoreError } from '../lock.errors.js';
import type { AcquireAnswer, LockMessage } from '../lock.store.js';
import {
  Acquisition,
  type AcquisitionFailure,
  type AcquisitionListener,
  type AcquisitionRequest,
  type LossReason,
} from './acquisition.js';
import { AcquisitionBook } from './acquisition.book.js';
import type { ClientEnvironment, LockLine } from './client.ports.js';
import { CLIENT_RULES, validUntil } from './client.rules.js';
import { type FarewellOutcome, Farewells } from './farewells.js';
import { type BeatListener, type ExtensionOutcome, Heartbeat, type Place } from './heartbeat.js';
import { Inquiry, type InquiryListener } from './inquiry.js';
import { isFinal } from './store.line.js';
import { Tenure } from './tenure.js';

/**
 * The client's side of the lock algorithm, one per process. It has no clock and no connection: time, chance and the store come in,
 * so that a simulation can run whole fleets through bad days.
 *
 * What keeps two holders apart: a deadline always counts from the sending of a command that ran before the store started the
 * lease, so every lease ends here before it ends there.
 */
export class LockClient implements InquiryListener, BeatListener {
  readonly #book: AcquisitionBook;
  readonly #farewells: Farewells;
  readonly #inquiry: Inquiry;
  readonly #heartbeat: Heartbeat;
  readonly #tenure: Tenure;

  /** @param process unique in the fleet and over restarts; the store's messages for this process go by it */
  constructor(
    readonly process: string,
    private readonly environment: ClientEnvironment,
    line: LockLine,
  ) {
    this.#book = new AcquisitionBook(process);
    this.#farewells = new Farewells(environment, line);
    this.#inquiry = new Inquiry(process, environment, line, this);
    this.#heartbeat = new Heartbeat(process, environment, line, this);
    this.#tenure = new Tenure(environment, (acquisition, reason) => {
      this.#lose(acquisition, reason);
    });
  }

  /** Starts an acquisition; the listener hears what becomes of it, never before this returns. */
  acquire(request: AcquisitionRequest, listener: AcquisitionListener): Acquisition {
    const acquisition = new Acquisition(request, listener);
    this.#book.enter(acquisition, this.environment.now());
    this.#inquiry.ask(acquisition);
    return acquisition;
  }

  /** Gives a wait up: the listener hears nothing more, and a grant that comes late is undone. Nothing on what is held or over. */
  cancel(acquisition: Acquisition): void {
    if (acquisition.state === 'held' || acquisition.state === 'ended') return;
    this.#end(acquisition);
  }

  /**
   * Ends a lease, at once for us; the store is told until it has heard. May be called again, to hear of a release that is not
   * answered yet. @returns false: it was lost before, or nothing is left to hear; `hear` is not called
   */
  release(acquisition: Acquisition, hear: (outcome: FarewellOutcome) => void): boolean {
    if (acquisition.state === 'held') {
      const isValid = this.isValid(acquisition);
      this.#end(acquisition, acquisition.keptUntil);
      if (!isValid) return false;
    }
    return this.#farewells.listen(acquisition.token, hear);
  }

  /** Whether it is held, by the clock and not by a timer: a process that was blocked finds out when it asks. */
  isValid(acquisition: Acquisition): boolean {
    return this.#tenure.isValid(acquisition);
  }

  remainingMs(acquisition: Acquisition): number {
    return this.#tenure.remainingMs(acquisition);
  }

  /**
   * Makes a held lease at least that long, from now and with each renewal.
   * @param hear the store confirmed it, or was silent (the renewal is repeated), or the lease is lost
   */
  extend(acquisition: Acquisition, leaseMs: number, hear: (outcome: ExtensionOutcome) => void): void {
    if (acquisition.state !== 'held') hear('lost');
    else this.#heartbeat.extend(this.#book.group(acquisition.request.key), { acquisition, leaseMs }, hear);
  }

  /** Takes what the store tells this process, in any order, late, twice or never. */
  receive(message: LockMessage): void {
    const acquisition = this.#book.find(message.token);
    if (message.kind === 'revoke') {
      if (acquisition?.fence === message.fence) this.#lose(acquisition, 'revoked');
    } else if (acquisition === undefined) this.undo(message.key, message.token);
    else if (acquisition.state === 'asking' || acquisition.state === 'queued') {
      // R2: the store said "queued" under a newer counter, so this grant has passed already.
      if (message.fence <= acquisition.queuedCounter) return;
      // R1: the short lease began after the newest command that ran before this grant was sent.
      const base = this.#book.group(message.key).history.latestBefore(message.fence, acquisition.askedAt);
      this.#grant(acquisition, message.fence, validUntil(base, message.leaseMs), false);
    }
  }

  /** Asks how all stands that it waits for or holds, at once: grants and revocations may have been lost. */
  askAnew(): void {
    for (const group of this.#book.groups()) {
      group.hasten(this.environment.now());
      this.#heartbeat.beat(group);
    }
  }

  /** Calls once the store has heard of everything that was given up or released. */
  whenQuiet(run: () => void): void {
    this.#farewells.whenEmpty(run);
  }

  /** Drops everything and stops every timer; what the store still has ends with its lease. */
  stop(): void {
    for (const acquisition of this.#book.all()) this.#end(acquisition);
    this.#farewells.stop();
  }

  answered(acquisition: Acquisition, sentAt: number, answer: AcquireAnswer): void {
    acquisition.silence = undefined;
    if (answer.kind === 'granted') this.#hearGranted(acquisition, sentAt, answer.fence);
    else if (answer.kind === 'queued') this.#hearQueued(acquisition, sentAt, answer);
    else if (acquisition.state === 'held') return;
    else if (answer.kind === 'buried') this.#requeue(acquisition);
    else {
      if (answer.kind === 'busy') acquisition.nextExpiryMs = answer.nextExpiryMs;
      this.#fail(acquisition, { kind: answer.kind });
    }
  }

  unanswered(acquisition: Acquisition, error: unknown): void {
    this.#fail(acquisition, { kind: 'store', error });
  }

  /** A grant or place that came after its token was given up. */
  undo(key: string, token: string): void {
    this.#farewells.say({ key, token, buries: true });
  }

  renewed(acquisition: Acquisition, { sentAt, leaseMs }: { sentAt: number; leaseMs: number }): void {
    const deadline = validUntil(sentAt, leaseMs);
    if (acquisition.state === 'claiming') {
      if (deadline > this.environment.now()) this.#grant(acquisition, acquisition.fence, deadline, true);
      else this.unconfirmed(acquisition);
      return;
    }
    acquisition.renewAt = sentAt + leaseMs / 3;
    this.#tenure.prolong(acquisition, deadline);
  }

  /** Who waits claims again with the next beat; who does not asks no further. */
  unconfirmed(acquisition: Acquisition, error: unknown = new LockStoreError('its answers come too late')): void {
    acquisition.silence = error;
    if (!acquisition.request.waits || isFinal(error)) this.unanswered(acquisition, error);
  }

  refused(acquisition: Acquisition, answer: 'gone' | 'revoked'): void {
    if (acquisition.state === 'held') this.#lose(acquisition, answer);
    else if (answer === 'revoked') this.#fail(acquisition, { kind: 'revoked' });
    else this.#requeue(acquisition);
  }

  placed(acquisition: Acquisition, { answer, sentAt, counter }: Place): void {
    if (acquisition.state === 'queued') {
      if (answer.kind === 'granted') this.#grant(acquisition, answer.fence, validUntil(sentAt, answer.leftMs), false);
      else if (answer.kind === 'gone') this.#requeue(acquisition);
      else acquisition.queuedCounter = Math.max(acquisition.queuedCounter, counter);
    } else if (answer.kind !== 'granted' && acquisition.fence <= counter) this.#lose(acquisition, 'gone');
  }

  #hearGranted(acquisition: Acquisition, sentAt: number, fence: number): void {
    const deadline = validUntil(sentAt, acquisition.request.leaseMs);
    if (acquisition.state !== 'held') this.#grant(acquisition, fence, deadline, true);
    else if (acquisition.fence === fence) this.#tenure.prolong(acquisition, deadline);
  }

  #hearQueued(acquisition: Acquisition, sentAt: number, answer: Extract<AcquireAnswer, { kind: 'queued' }>): void {
    const group = this.#book.group(acquisition.request.key);
    group.history.note(sentAt, answer.counter);
    if (acquisition.state === 'held') {
      if (answer.counter >= acquisition.fence) this.#lose(acquisition, 'gone');
      return;
    }
    acquisition.ticket = Math.min(acquisition.ticket, answer.ticket);
    acquisition.nextExpiryMs = answer.nextExpiryMs;
    acquisition.queuedCounter = Math.max(acquisition.queuedCounter, answer.counter);
    if (acquisition.state === 'asking') acquisition.state = 'queued';
    this.#heartbeat.arm(group, answer.nextExpiryMs);
  }

  /** A grant is known, by message, beat or answer. @param isFull whether its lease is the full one */
  #grant(acquisition: Acquisition, fence: number, deadline: number, isFull: boolean): void {
    acquisition.fence = fence;
    acquisition.retryTimer?.cancel();
    const group = this.#book.group(acquisition.request.key);
    if (deadline > this.environment.now() + (isFull ? 0 : CLIENT_RULES.minimumLeftMs)) {
      this.#tenure.begin(acquisition, deadline, isFull);
      this.#heartbeat.armFor(group, acquisition);
      acquisition.listener.held();
      return;
    }
    // R4: renew first, start on the answer.
    acquisition.state = 'claiming';
    acquisition.renewAt = 0;
    this.#heartbeat.beat(group);
  }

  /** R3: a lost place is retaken under a new token, with the old ticket; who does not wait has none. */
  #requeue(acquisition: Acquisition): void {
    const { token, unanswered, request } = acquisition;
    if (!request.waits) {
      this.unconfirmed(acquisition);
      return;
    }
    if (unanswered.size > 0) this.#farewells.say({ key: request.key, token, buries: true });
    this.#book.enter(acquisition, this.environment.now());
    this.#inquiry.ask(acquisition);
  }

  #lose(acquisition: Acquisition, reason: LossReason): void {
    if (acquisition.state !== 'held') return;
    this.#end(acquisition);
    acquisition.listener.lost(reason);
  }

  #fail(acquisition: Acquisition, failure: AcquisitionFailure): void {
    this.#end(acquisition);
    acquisition.listener.failed(failure);
  }

  /** Over for us from now on; the store is told until it has heard. */
  #end(acquisition: Acquisition, keepUntil?: number): void {
    const { token, unanswered, request } = acquisition;
    acquisition.stop();
    const keeps = keepUntil === undefined ? {} : { keepUntil };
    // First, since the next one waits for it.
    this.#farewells.say({ key: request.key, token, buries: unanswered.size > 0, ...keeps });
    this.#book.strike(acquisition);
  }
}
