import { ApiError, type ApiErrorOptions, type ErrorCode } from '../../http/index.js';

/**
 * Whose fault an attempt's failure is, which decides what may follow:
 * `request`: nobody else would take it either: stop. `key`: our key at this provider: another deployment may answer.
 * `upstream`: the provider or the way to it: another deployment may answer.
 */
export type Blame = 'request' | 'key' | 'upstream';

/** One attempt at one deployment failed. The message never quotes more of the provider than its text about the caller's request. */
export class UpstreamFailure extends ApiError {
  override readonly name = 'UpstreamFailure';

  constructor(
    readonly blame: Blame,
    code: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(code, message, options);
  }

  /**
   * As the caller is told of it once this service has tried all it may. The official clients would try everything again, each try
   * here being several; only a rate limit, which passes, is left to them.
   */
  afterAllAttempts(): UpstreamFailure {
    if (this.blame !== 'upstream' || this.code === 'rate_limit_exceeded') return this;
    const { param, retryAfterMs, reportedCode, cause } = this;
    return new UpstreamFailure(this.blame, this.code, this.message, {
      isRetryable: false,
      reportedCode,
      cause,
      ...(param !== undefined && { param }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
}
