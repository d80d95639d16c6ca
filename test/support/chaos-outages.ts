import type { WireCall } from './chaos-wire.js';
import { grouped } from './grouped.js';

/** Failures in a row after which a deployment may be left alone. */
const STRIKES = 3;

/** A call with the moment by which this service has surely noticed its end. */
interface NoticedCall {
  readonly call: WireCall;
  readonly noticedBy: number;
}

/**
 * When there was something against a deployment, by what was seen on the wire and by nothing else: three failures, or a word that asks
 * to wait, and since then no answer to a call that began after they were noticed. Where in doubt it was out: what is left has no excuse.
 */
export class Outages {
  readonly #byDeployment: ReadonlyMap<string, readonly NoticedCall[]>;

  /** @param ends - when each request was over, by its id */
  constructor(calls: readonly WireCall[], ends: ReadonlyMap<string, number>) {
    const noticed = [...grouped(calls, ({ id }) => id)].flatMap(([id, own]) =>
      own.map((call, at) => ({ call, noticedBy: own[at + 1]?.startedAt ?? ends.get(id) ?? call.endedAt })),
    );
    const telling = noticed.filter(({ call: { end } }) => end === 'whole' || end === 'failed');
    this.#byDeployment = grouped(
      telling.toSorted((a, b) => a.call.endedAt - b.call.endedAt),
      ({ call }) => call.deployment,
    );
  }

  /** Whether it may have been out at any moment of that time. */
  wasOut(deployment: string, from: number, to: number): boolean {
    let standing: Standing = FINE;
    for (const next of this.#byDeployment.get(deployment) ?? []) {
      const { endedAt } = next.call;
      if (endedAt > to) break;
      if (endedAt > from && standing.outSince !== undefined) return true;
      standing = after(standing, next);
    }
    return standing.outSince !== undefined;
  }
}

interface Standing {
  /** When the failures that may count were noticed. */
  readonly strikes: readonly number[];
  readonly outSince: number | undefined;
}

const FINE: Standing = { strikes: [], outSince: undefined };

function after({ strikes, outSince }: Standing, { call, noticedBy }: NoticedCall): Standing {
  const { end, startedAt, asksToWait } = call;
  if (end === 'whole') {
    if (outSince !== undefined) return startedAt > outSince ? FINE : { strikes, outSince };
    return { strikes: strikes.filter((strike) => strike >= startedAt), outSince };
  }
  const all = [...strikes, noticedBy];
  const isOut = outSince !== undefined || asksToWait || all.length >= STRIKES;
  return { strikes: all, outSince: isOut ? Math.max(outSince ?? 0, noticedBy) : undefined };
}
