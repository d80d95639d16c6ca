import { isObject, member } from '../../wire/json-value.js';

/**
 * There is no access token. The message holds no word of the library's and no part of its error, which carries the request: of what
 * was answered only the status, and OAuth's own code for it (RFC 6749, 5.2).
 */
export class TokenError extends Error {
  override readonly name = 'TokenError';
  /** The credentials are no good, as opposed to: nobody could be asked. */
  readonly isRefused: boolean;

  constructor(message: string, { isRefused }: { readonly isRefused: boolean }) {
    super(message);
    this.isRefused = isRefused;
  }

  /** @param isGiven - the credentials were given, as opposed to: the machine was searched for them, which may have them the next time */
  static from(error: unknown, { isGiven }: { readonly isGiven: boolean }): TokenError {
    if (error instanceof TokenError) return error;
    const response = member(error, 'response');
    const status = isObject(response) ? response['status'] : undefined;
    if (typeof status === 'number') return answered(status, member(response, 'data'));
    // With a request in it, it is the network's; else it never came so far: no credentials were found, or their key is none.
    return isObject(member(error, 'config'))
      ? new TokenError(`nobody could be asked${codeIn(error)}`, { isRefused: false })
      : new TokenError(`there are no credentials to ask with${codeIn(error)}`, { isRefused: isGiven });
  }
}

function answered(status: number, body: unknown): TokenError {
  const code = member(body, 'error');
  const word = typeof code === 'string' && /^\w{1,40}$/.test(code) ? `, ${code}` : '';
  const isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return new TokenError(`answered with status ${String(status)}${word}`, { isRefused });
}

/** The first code among the causes: fetch hides the system's within. */
function codeIn(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && /^\w{1,40}$/.test(code)) return `: ${code}`;
  }
  return '';
}
