import { ValueError } from './configuration-error.js';

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;
const FORM = /^(\d{1,10}(?:\.\d{1,3})?)(ms|s|m|h|d)?$/;

/** The longest duration, ms: what a Node timer can wait for (2^31 - 1, almost 25 days). */
export const LONGEST_DURATION_MS = 2_147_483_647;

/**
 * Milliseconds from `20s`, `300ms`, `2m`, `1.5h`, `1d` or a plain number of milliseconds.
 *
 * @throws ValueError for anything else, for parts of a millisecond and outside of `[leastMs, mostMs]`
 */
export function parseDuration(value: unknown, leastMs = 0, mostMs = LONGEST_DURATION_MS): number {
  const [, amount, unit] = FORM.exec(typeof value === 'number' ? String(value) : asText(value)) ?? [];
  const exact = Number(amount) * (isUnit(unit) ? UNITS[unit] : 1);
  const ms = Math.round(exact);
  // 2.3 * 1000 is 2299.9999999999995: close to a whole number is whole.
  if (amount === undefined || Math.abs(exact - ms) > 1e-6) {
    throw new ValueError('must be a duration such as 20s, 300ms, 2m, 1h, 1d, or a whole number of milliseconds');
  }
  if (ms < leastMs || ms > mostMs) {
    throw new ValueError(`must be a duration from ${formatDuration(leastMs)} to ${formatDuration(mostMs)}`);
  }
  return ms;
}

/** The shortest exact text: `20s` for 20,000; {@link parseDuration} reads it back. */
export function formatDuration(ms: number): string {
  const [unit, size] = Object.entries(UNITS).find(([, size]) => ms !== 0 && ms % size === 0) ?? ['ms', 1];
  return `${String(ms / size)}${unit}`;
}

function isUnit(text: string | undefined): text is keyof typeof UNITS {
  return text !== undefined && Object.hasOwn(UNITS, text);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
