import {
  AdmissionBusyError,
  type AdmissionService,
  AdmissionStoreError,
  type Scope,
  type Wish,
} from '../../src/admission/index.js';
import { pass } from './pass.js';

export interface Arrival {
  readonly sentAt: number;
  readonly at: number;
  readonly flow: string;
}

/** What a provider sees: each call when it arrives, which is up to so long after it was sent. */
export class UpstreamJudge {
  readonly arrivals: Arrival[] = [];
  peak = 0;
  #open = 0;

  constructor(private readonly transitMs: number) {}

  /** Takes one call. Its time is reckoned, not measured: a busy machine is no transit. */
  async call(flow: string, lastsMs: number): Promise<void> {
    const transitMs = Math.random() * this.transitMs;
    const sentAt = performance.now();
    this.arrivals.push({ sentAt, at: sentAt + transitMs, flow });
    this.#open += 1;
    this.peak = Math.max(this.peak, this.#open);
    await pass(transitMs + lastsMs);
    this.#open -= 1;
  }

  /** The most that arrived in any stretch of time of that length, which begins and ends between these times. */
  worst(windowMs: number, from = -Infinity, to = Infinity): number {
    const times = this.arrivals.map(({ at }) => at).filter((at) => at >= from && at <= to);
    times.sort((a, b) => a - b);
    let worst = 0;
    let first = 0;
    for (const [last, at] of times.entries()) {
      while (at - (times[first] ?? at) >= windowMs) first += 1;
      worst = Math.max(worst, last - first + 1);
    }
    return worst;
  }

  /** How many were sent between these times. */
  sent(from: number, to: number): number {
    return this.arrivals.filter(({ sentAt }) => sentAt >= from && sentAt < to).length;
  }
}

export interface CallerLoad extends Pick<Wish, 'flow' | 'weight'> {
  /** Calls at a time, each followed by the next. */
  readonly calls: number;
}

export interface LoadTally {
  refused: number;
  storeRefused: number;
  local: number;
}

export interface Load {
  readonly scope: Scope;
  readonly judge: UpstreamJudge;
  readonly callers: readonly CallerLoad[];
  /** Half as long to one and a half times, ms. */
  readonly lastsMs: number;
}

/** Callers that call as long as the signal has not aborted. Any other failure than a refusal is thrown. */
export async function load(service: AdmissionService, plan: Load, until: AbortSignal): Promise<LoadTally> {
  const tally: LoadTally = { refused: 0, storeRefused: 0, local: 0 };
  const isOver = (): boolean => until.aborted;
  const loop = async (caller: CallerLoad): Promise<void> => {
    while (!isOver()) {
      try {
        await call(service, { ...plan, caller, tally }, until);
      } catch (error) {
        if (error instanceof AdmissionBusyError) tally.refused += 1;
        else if (error instanceof AdmissionStoreError) tally.storeRefused += 1;
        else if (!isOver()) throw error;
        if (!isOver()) await pass(100);
      }
    }
  };
  await Promise.all(plan.callers.flatMap((caller) => Array.from({ length: caller.calls }, () => loop(caller))));
  return tally;
}

interface LoadCall extends Load {
  readonly caller: CallerLoad;
  readonly tally: LoadTally;
}

/** One call, from its wish to its end on every way out. */
async function call(service: AdmissionService, plan: LoadCall, signal: AbortSignal): Promise<void> {
  const { scope, judge, lastsMs, caller, tally } = plan;
  const { flow, weight = 1 } = caller;
  const wish = { scope, kind: 'deployment', flow, weight, tokens: 10, waitMs: 60_000, holdMs: 10_000, signal };
  let reservation = await service.reserve(wish);
  try {
    if (reservation.isLocal) tally.local += 1;
    while (!reservation.mayStillSend()) {
      await reservation.cancel();
      reservation = await service.reserve(wish);
    }
    reservation.sent();
    await judge.call(flow, lastsMs * (0.5 + Math.random()));
    await reservation.settle({ tokens: 5 });
  } finally {
    await reservation.cancel();
  }
}
