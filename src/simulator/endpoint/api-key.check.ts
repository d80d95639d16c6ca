import type { IncomingMessage } from 'node:http';
import { ProviderError } from '../provider.error.js';

/** The key of `Authorization: Bearer`, or of Azure's `api-key`. */
export function keyOf({ headers }: IncomingMessage): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const azure = headers['api-key'];
  return bearer ?? (typeof azure === 'string' ? azure : undefined);
}

/** @throws ProviderError 401 in OpenAI's wording. No accepted keys: everybody may call. */
export function checkKey(key: string | undefined, accepted: readonly string[]): void {
  if (accepted.length === 0 || (key !== undefined && accepted.includes(key))) {
    return;
  }
  if (key === undefined) {
    const message =
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
    throw new ProviderError(401, message);
  }
  throw new ProviderError(401, `Incorrect API key provided: ${key.slice(0, 3)}***${key.slice(-4)}.`, {
    code: 'invalid_api_key',
  });
}
