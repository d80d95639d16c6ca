import { FLEET_LIMITS as LIMITS } from '../fleet.limits.js';
import type { Topic } from '../fleet.store.js';
import { fieldsOf, oneOf, wholeNumber } from './fields.js';

export const PARKING_REASONS = ['quota', 'refused', 'denied'] as const;
/**
 * `quota`: what it pays for is used up. `refused`: the provider says of it that it is bad. `denied`: the provider did not take it for a
 * call, whatever it says of it.
 */
export type ParkingReason = (typeof PARKING_REASONS)[number];

/** The same for those who only want to know whether it may be used: what it pays for is used up, or its provider does not take it. */
export type KeyFault = Exclude<ParkingReason, 'denied'>;

/** A key that is not to be used; over where `until` is past. */
export interface Parking {
  readonly reason: ParkingReason;
  readonly until: number;
  /** When that was said. */
  readonly saidAt: number;
}

export interface ParkingChange {
  readonly reason: ParkingReason;
  /** From now; 0: no longer. */
  readonly forMs: number;
}

/** Keys that are out: the latest word counts. */
export const parkingTopic: Topic<Parking, ParkingChange> = {
  name: 'parking',
  mostPending: 1,

  apply(body, { reason, forMs }, at) {
    if (body === undefined ? forMs === 0 : at < body.saidAt) return body;
    return { reason, until: at + forMs, saidAt: at };
  },

  endOf: ({ until }) => until + LIMITS.parkingMemoryMs,
  isNews: (before, after) => before?.until !== after?.until || before?.reason !== after?.reason,
  merge: (_older, newer) => newer,

  format: ({ reason, until, saidAt }) => [reason, until, saidAt].join('|'),
  parse(text) {
    const [reason, until, saidAt] = fieldsOf(text, 3);
    return { reason: oneOf(PARKING_REASONS, reason), until: wholeNumber(until), saidAt: wholeNumber(saidAt) };
  },
  encode: ({ reason, forMs }) => [reason, forMs].join('|'),
};
