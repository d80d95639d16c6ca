import { foundIn, type Range, type Reading, unescaped } from './unescaped.text.js';

/** What stands in a text in place of a secret. */
export const REDACTED = '[redacted]';

/** Shorter secrets are not looked for inside text: taking "test" out of every line would cost more than it saves. */
export const MIN_SECRET_LENGTH = 6;
/** Of shorter ones base64 has too few letters of their own to be no word by chance. */
const MIN_ENCODED_LENGTH = 8;

/** All of a base64 text goes with the secret in it: the letters at its ends tell of it too. */
const BASE64_LETTER = /[\w+/]/;

/** How often what is escaped may be escaped once more: a URL in a JSON text in a page. */
const MAX_LAYERS = 3;

/** Something in a line of JSON that may be a character of a secret in another spelling; of any case. */
export const SPELT = String.raw`%[0-9a-f]{2}|\\u[0-9a-f]{4}|\\\\["\\/]|&(?:#|amp;|lt;|gt;|quot;|apos;)`;

/**
 * Finds secrets in texts, however a server that quotes them has spelt them: as they are, escaped for a URL, for JSON or for HTML, and in
 * base64 of either alphabet, padded or not, also within something longer such as the `user:key` of Basic credentials (RFC 7617).
 * To make one is cheap enough for a single text.
 */
export class SecretFinder {
  readonly #plain: readonly string[];
  readonly #base64: readonly string[];

  constructor(secrets: readonly string[]) {
    const worthIt = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
    this.#plain = unique(worthIt.flatMap((secret) => [secret, encodeURIComponent(secret)]));
    const longer = worthIt.filter((secret) => secret.length >= MIN_ENCODED_LENGTH);
    this.#base64 = unique(longer.flatMap((secret) => [0, 1, 2].map((offset) => innerBase64(secret, offset))));
  }

  /** The text without them. */
  redact(text: string): string {
    let result = '';
    let end = 0;
    for (const { from, to } of this.#rangesIn(text).sort((a, b) => a.from - b.from)) {
      if (from >= end) result += text.slice(end, from) + REDACTED;
      end = Math.max(end, to);
    }
    return end === 0 ? text : result + text.slice(end);
  }

  /** Finds those that stand in a line of JSON without escapes, or in base64. */
  linePattern(): RegExp {
    const insideJson = this.#plain.map((secret) => JSON.stringify(secret).slice(1, -1));
    const spellings = unique([...insideJson, ...this.#base64, ...this.#base64.map(urlSafe)]);
    return new RegExp(spellings.length === 0 ? '(?!)' : spellings.map(escapeRegExp).join('|'));
  }

  #rangesIn(text: string): Range[] {
    const found: Range[] = [];
    let reading: Reading | undefined = { text };
    for (let layer = 0; reading !== undefined && layer <= MAX_LAYERS; layer += 1) {
      found.push(...foundIn(reading, this.#plain));
      found.push(...foundIn({ ...reading, text: standard(reading.text) }, this.#base64, BASE64_LETTER));
      reading = unescaped(reading);
    }
    return found;
  }
}

/** What of its base64 a secret alone decides, behind so many other bytes (modulo 3): each letter has six bits. */
function innerBase64(secret: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** RFC 4648 section 5 to section 4, and back. */
function standard(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/');
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
