import type { WireCall } from './chaos-wire.js';
import { grouped } from './grouped.js';

/** Two things closer than this on the wire may have been seen in the other order, ms. */
const FUZZ_MS = 50;
/** Failures in a row after which a deployment may be left alone. */
const STRIKES = 3;

/**
 * When there was something against a deployment, by what was seen on the wire and by nothing else: three failures, or a word that asks
 * to wait, and since then no answer to a call that began after it. Where in doubt it was out: what is left has no excuse.
 */
export class Outages {
  readonly #byDeployment: ReadonlyMap<string, readonly WireCall[]>;

  constructor(calls: readonly WireCall[]) {
    const telling = calls.filter(({ end }) => end === 'whole' || end === 'failed');
    this.#byDeployment = grouped(
      telling.toSorted((a, b) => a.endedAt - b.endedAt),
      ({ deployment }) => deployment,
    );
  }

  /** Whether it may have been out at any moment of that time. */
  wasOut(deployment: string, from: number, to: number): boolean {
    let failures: readonly WireCall[] = [];
    const known = this.#byDeployment.get(deployment) ?? [];
    for (const call of known) {
      if (call.endedAt > to) break;
      if (call.endedAt > from && isOut(failures)) return true;
      failures =
        call.end === 'failed'
          ? [...failures, call]
          : failures.filter(({ endedAt }) => endedAt + FUZZ_MS >= call.startedAt);
    }
    return isOut(failures);
  }
}

function isOut(failures: readonly WireCall[]): boolean {
  return failures.length >= STRIKES || failures.some(({ asksToWait }) => asksToWait);
}
