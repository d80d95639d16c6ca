const hex = (char: string, digits: number): string => char.charCodeAt(0).toString(16).padStart(digits, '0');
const each = (text: string, spell: (char: string) => string): string => Array.from(text, spell).join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const base64Url = (text: string): string => Buffer.from(text).toString('base64url');

/** How servers, libraries and pages spell what they were sent. */
export const SPELLINGS: Readonly<Record<string, (secret: string) => string>> = {
  'as it is': (secret) => secret,
  'percent-encoded where it must be': encodeURIComponent,
  'percent-encoded throughout': (secret) => each(secret, (char) => `%${hex(char, 2).toUpperCase()}`),
  'percent-encoded in lower case': (secret) => each(secret, (char) => `%${hex(char, 2)}`),
  'percent-encoded twice': (secret) => each(secret, (char) => `%25${hex(char, 2)}`),
  'escaped for JSON': (secret) => each(secret, (char) => `\\u${hex(char, 4)}`),
  'escaped for JSON, slashes too': (secret) => JSON.stringify(secret).slice(1, -1).replaceAll('/', '\\/'),
  'in HTML, decimal': (secret) => each(secret, (char) => `&#${String(char.charCodeAt(0))};`),
  'in HTML, hexadecimal': (secret) => each(secret, (char) => `&#x${hex(char, 2)};`),
  'in HTML, by names': (secret) =>
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  'in HTML within JSON': (secret) => each(secret, (char) => `\\u0026#${String(char.charCodeAt(0))};`),
  'in base64': base64,
  'in base64, unpadded': (secret) => base64(secret).replaceAll('=', ''),
  'in url-safe base64': base64Url,
  'in base64, percent-encoded': (secret) => encodeURIComponent(base64(secret)),
  'as the password of Basic credentials': (secret) => `Basic ${base64(`user:${secret}`)}`,
  'as the user of Basic credentials': (secret) => base64(`${secret}:`),
  'behind one letter in base64': (secret) => base64Url(`k${secret}`),
};
