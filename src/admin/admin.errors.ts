/** Nobody has what an operator asks for. It may have ended between two requests: locks are short. */
export class LockNotFoundError extends Error {
  override readonly name = 'LockNotFoundError';
  readonly code = 'not_found';

  /** @param missing what was looked for and is not there */
  constructor(
    readonly key: string,
    missing: 'holder or waiter' | 'holder' | 'such holder',
  ) {
    super(`lock "${key}" has no ${missing}`);
  }
}
