import { createHash } from 'node:crypto';
import { TIERS, type Tier } from './caller.settings.js';
import { ValueError } from './configuration-error.js';

/** What one entry of `CALLER_KEYS` says; the key itself is already gone. */
export interface CallerKey {
  readonly name: string;
  readonly tier: Tier;
  readonly keySha256: string;
  /** Shorter than {@link SHORTEST_STRONG_KEY}. */
  readonly isWeak: boolean;
}

/** An entry of `CALLER_KEYS` that cannot be used. */
export interface FaultyKey {
  /** What it must be. */
  readonly fault: string;
}

/** A key with fewer characters can be guessed. */
export const SHORTEST_STRONG_KEY = 16;

/** The words an operator needs to get a first key, in one line of a shell. */
export const HOW_TO_MAKE_A_KEY = 'export CALLER_KEYS="app:enterprise:$(openssl rand -hex 24)"; echo "$CALLER_KEYS"';

/** SHA-256 as 64 lower-case hex digits: the only form in which a caller's key is kept or compared. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key, 'utf8').digest('hex');
}

/** A name that is fit for logs, metrics and ownership. */
export function isCallerName(text: string): boolean {
  return /^[A-Za-z0-9][\w.@-]{0,63}$/.test(text) && text.toLowerCase() !== 'anonymous';
}

/**
 * `name:tier:key`, separated by commas or line breaks. A key may contain `:` but no comma and no space.
 *
 * @returns by its number in the text each entry, or what it must be: that never repeats a part of it, since whoever mixes up the order
 *   has put the key there
 * @throws ValueError where there is none
 */
export function parseCallerKeys(text: string): readonly (CallerKey | FaultyKey)[] {
  const entries = text
    .split(/[,\r\n]+/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(parseEntry);
  if (entries.length === 0) throw new ValueError('names no caller: leave it out, or give name:tier:key');
  return entries;
}

function parseEntry(entry: string): CallerKey | FaultyKey {
  const [, name = '', tierName, key = ''] = /^([^:]*):([^:]*):(.*)$/.exec(entry) ?? [];
  if (tierName === undefined) return { fault: 'must be name:tier:key' };
  if (!isCallerName(name))
    return { fault: 'must begin with a name of up to 64 letters, digits and . _ @ -, other than anonymous' };
  const tier = TIERS.find((candidate) => candidate === tierName);
  if (tier === undefined)
    return { fault: `must have one of the tiers ${TIERS.join(', ')} in second place: name:tier:key` };
  if (!/^[\x21-\x7e]+$/.test(key))
    return { fault: 'must end with a key of printable ASCII without spaces: name:tier:key' };
  return { name, tier, keySha256: hashKey(key), isWeak: key.length < SHORTEST_STRONG_KEY };
}
