import { createHash } from 'node:crypto';

/** Longest escaped name, bytes of UTF-8. */
const MAX_NAME_BYTES = 256;

const SHORTENED = '%~';
const HASH_LENGTH = 32;
/** What separates the parts of our names, chooses the cluster slot, marks an escape, or can't be stored as UTF-8. */
const UNSAFE = /[\p{Cc}{}:|%]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;
const EMPTY = '%-';

/**
 * User data as a part of a key or channel: without `{ } : |`, control characters and lone surrogates, never empty, at most
 * 256 bytes long. Two different texts never give the same name: what is longer keeps its beginning and gets a hash
 * of the whole.
 */
export function escapeName(text: string): string {
  if (text === '') return EMPTY;
  const escaped = text.replace(UNSAFE, escapeUnit);
  return Buffer.byteLength(escaped) <= MAX_NAME_BYTES ? escaped : shorten(text);
}

/** What Redis Cluster takes the slot from: the text between the first braces, or the whole key. */
export function slotText(key: string): string {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}

function escapeUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  return code < 0x100 ? `%${code.toString(16).padStart(2, '0')}` : `%u${code.toString(16)}`;
}

function shorten(text: string): string {
  // UTF-16, since UTF-8 has no room for lone surrogates and would make them all alike.
  const hash = createHash('sha256').update(text, 'utf16le').digest('hex').slice(0, HASH_LENGTH);
  const room = MAX_NAME_BYTES - SHORTENED.length - HASH_LENGTH;
  let kept = '';
  let bytes = 0;
  for (const character of text) {
    const escaped = character.replace(UNSAFE, escapeUnit);
    bytes += Buffer.byteLength(escaped);
    if (bytes > room) break;
    kept += escaped;
  }
  return `${kept}${SHORTENED}${hash}`;
}
