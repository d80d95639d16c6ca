import { ValueError } from '../configuration-error.js';
import { token } from './parsers.js';

/** In place of credentials: look for Google's Application Default Credentials. */
export const APPLICATION_DEFAULT = 'adc';

/** What a credentials file may be, by its `type`; of a service account's, the members that it is no use without. */
const NEEDED_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['service_account', ['client_email', 'private_key']],
  ['authorized_user', ['client_id', 'client_secret', 'refresh_token']],
  ['external_account', []],
  ['external_account_authorized_user', []],
  ['impersonated_service_account', []],
]);

/**
 * Google credentials: the JSON of a credentials file, an access token, or `adc`.
 *
 * @throws ValueError, never with a word of the text
 */
export function googleCredentials(text: string): string {
  if (!text.startsWith('{')) return text.toLowerCase() === APPLICATION_DEFAULT ? APPLICATION_DEFAULT : token(text);
  const file = parseJson(text);
  const type = file['type'];
  const needed = typeof type === 'string' ? NEEDED_MEMBERS.get(type) : undefined;
  if (needed === undefined)
    throw new ValueError(`must be a credentials file whose type is one of ${[...NEEDED_MEMBERS.keys()].join(', ')}`);
  const missing = needed.filter((member) => typeof file[member] !== 'string' || file[member] === '');
  if (missing.length > 0)
    throw new ValueError(`must be a complete credentials file: it lacks ${missing.join(' and ')}`);
  return text;
}

function parseJson(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch (error) {
    // The parser's own message quotes the text.
    if (error instanceof SyntaxError) throw new ValueError('must be a token or complete JSON');
    throw error;
  }
}
