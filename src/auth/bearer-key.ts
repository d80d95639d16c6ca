/** Longest key or token that is looked at, in bytes as sent. Node takes 16 KiB of headers, and a token needs some room for its claims. */
export const MAX_BEARER_LENGTH = 8_192;

const BEARER = /^bearer +(\S+) *$/i;

/**
 * The key or the token in an `Authorization: Bearer` header (RFC 6750; the scheme in any case, RFC 9110 section 11.1), or undefined where there
 * is none, where it is malformed or too long, and where the header came more than once: which of two counts is then a matter of
 * taste, and a proxy in front may have checked the other one.
 *
 * Other headers (`api-key`, `x-api-key`) are not read: the API speaks OpenAI's dialect, and one place for a key is one to redact.
 *
 * @param rawHeaders names and values in turn, as Node received them: its parsed headers hide the second Authorization.
 */
export function readBearerKey(rawHeaders: readonly string[]): string | undefined {
  const values = authorizationValues(rawHeaders);
  const [value] = values;
  if (value === undefined || values.length > 1) return undefined;
  const key = BEARER.exec(value)?.[1];
  return key !== undefined && key.length <= MAX_BEARER_LENGTH ? key : undefined;
}

function authorizationValues(rawHeaders: readonly string[]): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1];
    if (value !== undefined && rawHeaders[index]?.toLowerCase() === 'authorization') values.push(value);
  }
  return values;
}
