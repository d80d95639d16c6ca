import type { BeatAnswer, WaiterAnswer } from '../lock.store.js';
import type { Acquisition } from './acquisition.js';
import type { ClientEnvironment, LockLine } from './client.ports.js';
import { CLIENT_RULES } from './client.rules.js';
import type { BeatPlan, KeyGroup, PlannedRenewal } from './key.group.js';

/** What a beat's answer says of each acquisition, those left out that have changed since it was sent. */
export interface BeatListener {
  renewed(acquisition: Acquisition, renewal: { readonly sentAt: number; readonly leaseMs: number }): void;
  /** The beat of who waits, or claims what was granted, was not answered. */
  unconfirmed(acquisition: Acquisition, error: unknown): void;
  refused(acquisition: Acquisition, answer: 'gone' | 'revoked'): void;
  placed(acquisition: Acquisition, place: Place): void;
}

/** Where a waiter is, as of a counter that was read after `sentAt`. */
export interface Place {
  readonly answer: WaiterAnswer;
  readonly sentAt: number;
  readonly counter: number;
}

/** The store confirmed it, or was silent, or there is no lease any more. */
export type ExtensionOutcome = 'extended' | 'silent' | 'lost';

/** One beat per key and process: the renewals that are due, and word that the waiters live. */
export class Heartbeat {
  constructor(
    private readonly process: string,
    private readonly environment: ClientEnvironment,
    private readonly line: LockLine,
    private readonly listener: BeatListener,
  ) {}

  /** Plans the next beat. @param nextExpiryMs when the store may have something new */
  arm(group: KeyGroup, nextExpiryMs?: number): void {
    const now = this.environment.now();
    const at = group.nextBeatAt(now, nextExpiryMs);
    if (at === Infinity || group.isArmedFor(at, now)) return;
    group.disarm();
    const timer = this.environment.after(at - now, () => {
      group.disarm();
      this.beat(group);
    });
    group.arm(at, timer);
  }

  /** As arm(), where only this member has changed: a look at it is enough while an early beat is planned anyway. */
  armFor(group: KeyGroup, { renewAt }: Acquisition): void {
    if (!group.isArmedFor(renewAt, this.environment.now())) this.arm(group);
  }

  /** Beats now, if there is anything to say. */
  beat(group: KeyGroup): void {
    const plan = group.planBeat(this.environment.now());
    this.arm(group);
    if (plan.renewals.length > 0 || plan.waiters.length > 0) this.#send(group, plan, () => undefined);
  }

  /** Renews one lease now, for at least so long, and so with each later beat. */
  extend(
    group: KeyGroup,
    { acquisition, leaseMs }: { readonly acquisition: Acquisition; readonly leaseMs: number },
    hear: (outcome: ExtensionOutcome) => void,
  ): void {
    acquisition.leaseMs = Math.max(acquisition.leaseMs, leaseMs);
    acquisition.renewAt = this.environment.now() + CLIENT_RULES.renewalRetryMs;
    const renewal = { acquisition, token: acquisition.token, leaseMs: acquisition.leaseMs };
    this.#send(group, { renewals: [renewal], waiters: [] }, (isAnswered) => {
      if (acquisition.state !== 'held') hear('lost');
      else hear(isAnswered ? 'extended' : 'silent');
    });
    this.arm(group);
  }

  /** @param heard after the listener has heard it all; a silence may be followed by an answer */
  #send(group: KeyGroup, plan: BeatPlan, heard: (isAnswered: boolean) => void): void {
    const sentAt = this.environment.now();
    const renewals = plan.renewals.map(({ token, leaseMs }) => ({ token, leaseMs }));
    const waiters = plan.waiters.map(({ token }) => token);
    this.line.beat({ key: group.key, process: this.process, renewals, waiters }, (outcome) => {
      if (outcome.isAnswered) this.#hear(group, plan, { answer: outcome.answer, sentAt });
      else this.#miss(group, plan, outcome.error);
      heard(outcome.isAnswered);
    });
  }

  #miss(group: KeyGroup, plan: BeatPlan, error: unknown): void {
    for (const { acquisition, token } of [...plan.waiters, ...plan.renewals]) {
      const isWaiting = acquisition.state === 'queued' || acquisition.state === 'claiming';
      if (isWaiting && acquisition.token === token) this.listener.unconfirmed(acquisition, error);
    }
    this.arm(group, RETRY_MS);
  }

  #hear(group: KeyGroup, plan: BeatPlan, { answer, sentAt }: { answer: BeatAnswer; sentAt: number }): void {
    const { counter, nextExpiryMs } = answer;
    group.history.note(sentAt, counter);
    for (const [index, renewal] of plan.renewals.entries()) this.#hearRenewal(renewal, answer.renewals[index], sentAt);
    for (const [index, { acquisition, token }] of plan.waiters.entries()) {
      const place = answer.waiters[index];
      if (place === undefined || acquisition.token !== token || acquisition.state === 'ended') continue;
      acquisition.silence = undefined;
      acquisition.nextExpiryMs = nextExpiryMs;
      this.listener.placed(acquisition, { answer: place, sentAt, counter });
    }
    this.arm(group, nextExpiryMs);
  }

  #hearRenewal(renewal: PlannedRenewal, answer: BeatAnswer['renewals'][number] | undefined, sentAt: number): void {
    const { acquisition, token, leaseMs } = renewal;
    const isGranted = acquisition.state === 'held' || acquisition.state === 'claiming';
    if (answer === undefined || acquisition.token !== token || !isGranted) return;
    acquisition.silence = undefined;
    if (answer === 'renewed') this.listener.renewed(acquisition, { sentAt, leaseMs });
    else this.listener.refused(acquisition, answer);
  }
}

/** After a beat without an answer. */
const RETRY_MS = 100;
