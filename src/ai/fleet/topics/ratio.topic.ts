import { FLEET_LIMITS as LIMITS, RATIO_BOUNDS } from '../fleet.limits.js';
import type { Topic } from '../fleet.store.js';
import { wholeNumber } from './fields.js';

/**
 * By how much a model's provider counts more tokens than we do, millionths. It goes up fast and down slowly: an eighth of the way
 * to a larger sample, a sixty-fourth of the way to a smaller one. So it settles where larger samples pull as hard as eight times as
 * many smaller ones: in the upper part of what comes, yet without following a single one that is far out.
 */
export const ratioTopic: Topic<number, number> = {
  name: 'ratio',
  mostPending: 32,
  apply(body = RATIO_BOUNDS.unknown, sample) {
    const { least, most } = RATIO_BOUNDS;
    const distance = Math.min(most, Math.max(least, sample)) - body;
    return body + (distance > 0 ? Math.ceil(distance / LIMITS.ratioRise) : Math.floor(distance / LIMITS.ratioFall));
  },
  endOf: (_body, now) => now + LIMITS.ratioMs,
  isNews: () => false,
  merge: () => undefined,
  format: String,
  parse: wholeNumber,
  encode: String,
};
