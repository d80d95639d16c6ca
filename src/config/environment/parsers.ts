import { isIP } from 'node:net';
import { ValueError } from '../configuration-error.js';
import { parseDuration } from '../duration.js';

/** A parser for a whole number of `[least, most]`, in decimal digits. */
export function wholeNumber(least: number, most: number, what = 'a whole number'): (text: string) => number {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most))
      throw new ValueError(`must be ${what} from ${String(least)} to ${String(most)}`);
    return value;
  };
}

/** A TCP port; 0 asks for any free one. */
export const port = wholeNumber(0, 65_535, 'a port number');

/** A parser for a duration of `[leastMs, mostMs]`. */
export function durationMs(leastMs: number, mostMs: number): (text: string) => number {
  return (text) => parseDuration(text, leastMs, mostMs);
}

/** A parser for one of a few words. */
export function oneOf<const T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((candidate) => candidate === text.toLowerCase());
    if (word === undefined) throw new ValueError(`must be ${words.length === 1 ? '' : 'one of '}${words.join(', ')}`);
    return word;
  };
}

const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

/** True or false, also as 1/0, yes/no, on/off. */
export function toggle(text: string): boolean {
  const value = SWITCHES.get(text.toLowerCase());
  if (value === undefined) throw new ValueError('must be true or false');
  return value;
}

/** Printable text without spaces: what may stand in an HTTP header. */
export function token(text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new ValueError('must be printable ASCII without spaces');
  return text;
}

/** Any text on one line. */
export function line(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\x00-\x1f\x7f]/.test(text)) throw new ValueError('must be one line without control characters');
  return text;
}

/** A host name or an IP address to bind to; IPv6 also in brackets, which are taken off. */
export function host(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  if (isIP(bare) === 0 && !isHostName(bare))
    throw new ValueError('must be an IP address or a host name, without a port');
  return bare;
}

/** By RFC 1123, with the underscore that container networks use; all-numeric ends are addresses, not names. */
export function isHostName(text: string): boolean {
  return (
    text.length <= 253 &&
    text.split('.').every((label) => /^(?!-)[\w-]{1,63}(?<!-)$/.test(label)) &&
    !/(^|\.)\d+$/.test(text)
  );
}

/** The items of a comma-separated list, trimmed, without empty ones. */
export function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
