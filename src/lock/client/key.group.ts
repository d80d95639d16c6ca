import type { Acquisition } from './acquisition.js';
import type { ClientTimer } from './client.ports.js';
import { CLIENT_RULES } from './client.rules.js';
import { CounterHistory } from './counter.history.js';

/** What one beat says and asks, with the token of each as it was when sent. */
export interface BeatPlan {
  readonly renewals: readonly PlannedRenewal[];
  readonly waiters: readonly { readonly acquisition: Acquisition; readonly token: string }[];
}

export interface PlannedRenewal {
  readonly acquisition: Acquisition;
  readonly token: string;
  readonly leaseMs: number;
}

/** All acquisitions of one key in this process: they share one beat. */
export class KeyGroup {
  readonly members = new Set<Acquisition>();
  readonly history = new CounterHistory();
  #timer: { readonly at: number; readonly timer: ClientTimer } | undefined;
  #rotation = 0;

  constructor(readonly key: string) {}

  /** When the next beat is due; Infinity: none. */
  nextBeatAt(now: number, nextExpiryMs: number | undefined): number {
    const forWaiters = now + Math.min(CLIENT_RULES.beatMs, nextExpiryMs === undefined ? Infinity : nextExpiryMs + 2);
    let at = Infinity;
    for (const { state, renewAt } of this.members) {
      if (state === 'queued') at = Math.min(at, forWaiters);
      else if (isGranted(state)) at = Math.min(at, Math.max(now + CLIENT_RULES.beatSlackMs, renewAt));
    }
    return at;
  }

  /** True while a beat is planned that early already. */
  isArmedFor(at: number, now: number): boolean {
    return this.#timer !== undefined && this.#timer.at <= at + 1 && this.#timer.at > now;
  }

  arm(at: number, timer: ClientTimer): void {
    this.disarm();
    this.#timer = { at, timer };
  }

  disarm(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  /** Makes all renewals due: their answers tell what a lost message would have. */
  hasten(now: number): void {
    for (const acquisition of this.members) {
      // What is held for as long as it may be is not renewed any more.
      if (acquisition.state === 'held' && acquisition.renewAt < Infinity) acquisition.renewAt = now;
    }
  }

  /** The renewals that are due and the waiters to ask about. Moves the due renewals on to their retry. */
  planBeat(now: number): BeatPlan {
    const renewals: PlannedRenewal[] = [];
    const queued: Acquisition[] = [];
    for (const acquisition of this.members) {
      if (acquisition.state === 'queued') queued.push(acquisition);
      else if (isGranted(acquisition.state) && acquisition.renewAt <= now + CLIENT_RULES.beatSlackMs) {
        acquisition.renewAt = now + CLIENT_RULES.renewalRetryMs;
        renewals.push({ acquisition, token: acquisition.token, leaseMs: acquisition.leaseMs });
      }
    }
    const waiters = this.#sample(queued).map((acquisition) => ({ acquisition, token: acquisition.token }));
    return { renewals, waiters };
  }

  /** The oldest waiters, who are next, and some of the others in turn, so that each lost place is found. */
  #sample(queued: Acquisition[]): Acquisition[] {
    const { sampleSize } = CLIENT_RULES;
    queued.sort((one, other) => one.ticket - other.ticket);
    const rest = queued.slice(sampleSize);
    if (rest.length === 0) return queued;
    const start = this.#rotation % rest.length;
    this.#rotation = start + sampleSize;
    return [...queued.slice(0, sampleSize), ...[...rest.slice(start), ...rest.slice(0, start)].slice(0, sampleSize)];
  }
}

function isGranted(state: Acquisition['state']): boolean {
  return state === 'held' || state === 'claiming';
}
