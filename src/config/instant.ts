import { ValueError } from './configuration-error.js';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const CLOCK = /^(\d{2}:\d{2})(:\d{2})?(\.\d{1,9})? *(z|[+-]\d{2}:?\d{2})?$/i;

/**
 * Unix milliseconds from a day (`2027-01-14`: its first moment in UTC) or a point in time (`2027-01-14T09:00:00Z`, also in
 * YAML's looser spelling); without a zone it is UTC.
 *
 * @throws ValueError for anything else, also for days that no calendar has
 */
export function parseInstant(value: unknown): number {
  const text = typeof value === 'string' ? value.trim() : '';
  const day = text.slice(0, 10);
  const clock = /^(?:[Tt]|[ \t]+(?![ \t]))(.*)$/.exec(text.slice(10))?.[1];
  const instant = text.length === 10 ? Date.parse(`${day}T00:00:00Z`) : Date.parse(`${day}T${isoClock(clock ?? '')}`);
  if (!isDay(day) || Number.isNaN(instant))
    throw new ValueError('must be a date such as 2027-01-14 or 2027-01-14T09:00:00Z');
  return instant;
}

/** The day in UTC, `2027-01-14`. */
export function formatDay(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10);
}

/** Date.parse turns 30 February into 2 March instead of refusing it. */
function isDay(text: string): boolean {
  const midnight = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(midnight) && formatDay(midnight) === text;
}

/** `9:30 +0200` and its like as ISO 8601 has it; what is not a time of day stays wrong. */
function isoClock(text: string): string {
  const [, minutes = '', seconds = ':00', fraction = '.0', zone = 'Z'] = CLOCK.exec(text) ?? [];
  return `${minutes}${seconds}${fraction.slice(0, 4)}${zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`;
}
