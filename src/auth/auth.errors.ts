/** No caller is known by what was presented. One text for every reason, so that a stranger learns nothing from it. */
export class InvalidApiKeyError extends Error {
  override readonly name = 'InvalidApiKeyError';
  readonly code = 'invalid_api_key';

  /** @param reason for the log alone, in a few fixed words: no part of what was presented */
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super('missing or invalid API key; send it as "Authorization: Bearer <key>"', options);
  }
}

/** The caller is known, but may not do this. */
export class InsufficientScopeError extends Error {
  override readonly name = 'InsufficientScopeError';
  readonly code = 'insufficient_scope';

  constructor(readonly scope: string) {
    super(`this API key lacks the scope "${scope}"`);
  }
}

/** The caller is known, but not to call from this page, or from outside of a browser. */
export class OriginNotAllowedError extends Error {
  override readonly name = 'OriginNotAllowedError';
  readonly code = 'forbidden';

  constructor() {
    super('this API key may not be used from here: the Origin of the request is not one of its own');
  }
}

/** Too many wrong keys have come from this address: none of its keys is looked at for a while, but for those that it has used before. */
export class TooManyGuessesError extends Error {
  override readonly name = 'TooManyGuessesError';
  readonly code = 'rate_limit_exceeded';

  /** @param retryAfterMs until the next key is looked at, ms */
  constructor(readonly retryAfterMs: number) {
    super('too many requests with wrong keys came from this address; try again later');
  }
}

/** The issuer's public keys are out of reach: nobody can tell whether the token is good. */
export class TokensUnavailableError extends Error {
  override readonly name = 'TokensUnavailableError';
  readonly code = 'overloaded';

  /** @param retryAfterMs until they are asked for again, ms */
  constructor(readonly retryAfterMs: number) {
    super('tokens cannot be checked now; try again later');
  }
}
