import { FLEET_LIMITS as LIMITS } from '../fleet.limits.js';
import type { Topic } from '../fleet.store.js';
import { wholeNumber } from './fields.js';

/** How long one call took. */
export interface LatencySample {
  /** To the first token of a stream, or to the end of a whole answer, ms; of a censored one, how long it was waited for. */
  readonly ms: number;
  /** In a whole answer; 0 for a stream. */
  readonly tokens: number;
  /** It was given up: it would have taken longer. */
  readonly isCensored: boolean;
}

/** A history's name, of which each model has two. */
export function historyOf(model: string, kind: 'stream' | 'json'): string {
  return `${kind}/${model}`;
}

/** The last samples of a model, streams and whole answers apart, oldest first. */
export const latencyTopic: Topic<readonly LatencySample[], LatencySample> = {
  name: 'latency',
  mostPending: LIMITS.samples,
  apply: (body = [], sample) => [...(body.length < LIMITS.samples ? body : body.slice(1 - LIMITS.samples)), sample],
  endOf: (_body, now) => now + LIMITS.latencyMs,
  isNews: () => false,
  merge: () => undefined,
  format: (body) => body.map(encode).join(','),
  parse: (text) =>
    text.split(',').map((sample) => {
      const [ms, tokens] = sample.split(':');
      return { ms: wholeNumber(ms), tokens: tokens === 'x' ? 0 : wholeNumber(tokens), isCensored: tokens === 'x' };
    }),
  encode,
};

function encode({ ms, tokens, isCensored }: LatencySample): string {
  return `${ms}:${isCensored ? 'x' : tokens}`;
}
