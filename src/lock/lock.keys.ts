/** What cannot stand in a hash tag or between the separators of an entry; a lone surrogate has no UTF-8. */
const RESERVED = /[%{}|\p{Cc}]|\p{Cs}/gu;
const ESCAPED = /%([0-9A-F]{4})/g;
/** Most texts: seen at a glance, they are their own names. */
const PLAIN = /^[ -$&-z~]+$/;
/** An empty hash tag would spread the keys of a lock over a cluster. */
const EMPTY = '%';
const SPECIAL_IN_PATTERN = /[*?[\]\\^]/g;

/** The keys of one lock, in the order of the scripts. They share one hash tag. */
export function lockKeys(prefix: string, key: string): readonly [string, string, string, string] {
  const hash = hashKey(prefix, key);
  return [hash, `${hash}:e`, `${hash}:q`, `${hash}:a`];
}

/** Where a token is buried that was given up without an answer. */
export function tombstoneKey(prefix: string, key: string, token: string): string {
  return `${hashKey(prefix, key)}:x:${escapeText(token)}`;
}

function hashKey(prefix: string, key: string): string {
  return `${prefix}lk:{${escapeText(key)}}`;
}

/** Before the (escaped) name of a process; together its channel. */
export function channelPrefix(prefix: string): string {
  return `${prefix}lk:`;
}

/** Matches the names of holder sets and queues, which are there only while something is held or waited for. */
export function busyPattern(prefix: string): string {
  return `${prefix.replace(SPECIAL_IN_PATTERN, '\\$&')}lk:{*}:[eq]`;
}

/** The user's key in the name of any key of a lock; undefined if it is no such name. */
export function keyOfName(prefix: string, name: string): string | undefined {
  const start = `${prefix}lk:{`;
  const end = name.indexOf('}', start.length);
  return name.startsWith(start) && end !== -1 ? unescapeText(name.slice(start.length, end)) : undefined;
}

/**
 * Gives every text a name of its own without braces, bars, control characters and lone surrogates.
 * Not shortened, however long: a message, and an operator's list, give the whole text back.
 */
export function escapeText(text: string): string {
  if (PLAIN.test(text)) return text;
  if (text === '') return EMPTY;
  return text.replace(RESERVED, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`);
}

export function unescapeText(name: string): string {
  if (name === EMPTY) return '';
  return name.replace(ESCAPED, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
