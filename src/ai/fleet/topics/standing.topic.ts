import { FLEET_LIMITS as LIMITS } from '../fleet.limits.js';
import type { Topic } from '../fleet.store.js';
import { fieldsOf, wholeNumber, wholeNumbers } from './fields.js';

/** How a deployment has done lately. Closed while `openings` is 0; else open until `openUntil`, and half-open from then on. */
export interface Standing {
  /** When it last opened or closed: what calls say that began before is out of date. 0: never. */
  readonly since: number;
  readonly openUntil: number;
  /** Times that it opened without a success between. */
  readonly openings: number;
  /** Of the last failure that counted. */
  readonly code: string;
  /** Who may probe it while it is half-open, and until when. */
  readonly prober: string;
  readonly probeUntil: number;
  /** Times of the failures that count while it is closed. */
  readonly strikes: readonly number[];
}

export type StandingChange =
  | {
      readonly kind: 'failed';
      /** From the start of the call to its failure, ms. */
      readonly tookMs: number;
      /** How long the provider asked us to wait, ms; 0: it did not say. */
      readonly retryAfterMs: number;
      readonly code: string;
    }
  | { readonly kind: 'succeeded'; readonly tookMs: number }
  /** Takes or renews the right to probe. */
  | { readonly kind: 'claimed'; readonly process: string; readonly leaseMs: number }
  | { readonly kind: 'let-go'; readonly process: string };

/** Of a deployment that nobody has anything against. */
export const UNKNOWN: Standing = {
  since: 0,
  openUntil: 0,
  openings: 0,
  code: '',
  prober: '',
  probeUntil: 0,
  strikes: [],
};

/**
 * The breaker of a deployment.
 *
 * - Closed: it opens at `strikes` failures within `strikeWindowMs` without a success between, or at once where the provider says
 *   how long to wait.
 * - Open: nothing that happens ends it early or prolongs it but a longer Retry-After.
 * - Half-open: whoever claims it first may probe; a claim ends with its lease. A success closes it, a failure opens it for twice
 *   as long, or for the time that the provider asks for.
 * - What a call says that began before the last opening or closing is out of date: of fifty calls that hang, forty-seven fail
 *   after the breaker has opened, or has even closed again.
 */
export const standingTopic: Topic<Standing, StandingChange> = {
  name: 'standing',
  mostPending: 16,

  apply(body, change, at) {
    switch (change.kind) {
      case 'failed':
        return failed(body ?? UNKNOWN, change, at);
      case 'succeeded':
        return body && succeeded(body, at, at - change.tookMs);
      case 'claimed':
        return body && claimed(body, change.process, at, change.leaseMs);
      case 'let-go':
        return body?.prober === change.process ? { ...body, prober: '', probeUntil: 0 } : body;
    }
  },

  endOf({ since, openUntil, openings, strikes }) {
    if (openings > 0) return openUntil + LIMITS.halfOpenMs;
    return Math.max(
      since === 0 ? 0 : since + LIMITS.recoveryMs,
      ...strikes.map((strike) => strike + LIMITS.strikeWindowMs),
    );
  },

  isNews: (before = UNKNOWN, after = UNKNOWN) => before.openUntil !== after.openUntil || before.since !== after.since,
  merge: () => undefined,

  format: ({ since, openUntil, openings, code, prober, probeUntil, strikes }) =>
    [since, openUntil, openings, code, prober, probeUntil, strikes.join(',')].join('|'),

  parse(text) {
    const [since, openUntil, openings, code, prober, probeUntil, strikes] = fieldsOf(text, 7);
    return {
      since: wholeNumber(since),
      openUntil: wholeNumber(openUntil),
      openings: wholeNumber(openings),
      code: code ?? '',
      prober: prober ?? '',
      probeUntil: wholeNumber(probeUntil),
      strikes: wholeNumbers(strikes),
    };
  },

  encode(change) {
    switch (change.kind) {
      case 'failed':
        return ['F', change.tookMs, change.retryAfterMs, change.code].join('|');
      case 'succeeded':
        return ['S', change.tookMs].join('|');
      case 'claimed':
        return ['C', change.process, change.leaseMs].join('|');
      case 'let-go':
        return ['L', change.process].join('|');
    }
  },
};

function failed(standing: Standing, change: Extract<StandingChange, { kind: 'failed' }>, at: number): Standing {
  const { since, openUntil, openings } = standing;
  const { code, tookMs } = change;
  const askedMs = Math.min(change.retryAfterMs, LIMITS.longestRetryAfterMs);
  if (at < openUntil) return at + askedMs > openUntil ? { ...standing, openUntil: at + askedMs } : standing;
  // A provider that says how long to wait speaks of now, whenever the call began.
  if (at < since || (askedMs === 0 && at - tookMs < since)) return standing;
  // Its own word is worth more than a guess; a provider at its limit is no more broken each time.
  if (askedMs > 0) return opened(at, askedMs, Math.max(1, openings), code);
  return openings > 0 ? opened(at, openMs(openings), openings + 1, code) : struck(standing, at, code);
}

function struck(standing: Standing, at: number, code: string): Standing {
  const strikes = [...standing.strikes.filter((strike) => strike > at - LIMITS.strikeWindowMs), at];
  return strikes.length < LIMITS.strikes ? { ...standing, code, strikes } : opened(at, LIMITS.firstOpenMs, 1, code);
}

function opened(at: number, forMs: number, openings: number, code: string): Standing {
  return { ...UNKNOWN, since: at, openUntil: at + forMs, openings, code };
}

/** After so many openings in a row. */
function openMs(openings: number): number {
  return Math.min(LIMITS.firstOpenMs * 2 ** openings, LIMITS.longestOpenMs);
}

function succeeded(standing: Standing, at: number, beganAt: number): Standing | undefined {
  const { since, openUntil, openings } = standing;
  if (openings > 0) return at < openUntil || beganAt < since ? standing : { ...UNKNOWN, since: at };
  const strikes = standing.strikes.filter((strike) => strike > at);
  if (strikes.length === standing.strikes.length) return standing;
  return since === 0 && strikes.length === 0 ? undefined : { ...standing, strikes };
}

function claimed(standing: Standing, process: string, at: number, leaseMs: number): Standing {
  const { openUntil, openings, prober, probeUntil } = standing;
  const isOthers = prober !== process && at < probeUntil;
  if (openings === 0 || at < openUntil || isOthers) return standing;
  return { ...standing, prober: process, probeUntil: at + leaseMs };
}
