/** No caller is known by what was presented. One text for every reason, so that a stranger learns nothing from it. */
export class InvalidApiKeyError extends Error {
  override readonly name = 'InvalidApiKeyError';
  readonly code = 'invalid_api_key';

  constructor() {
    super('missing or invalid API key; send it as "Authorization: Bearer <key>"');
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
