import { ApiError, type ApiErrorOptions, type ErrorCode } from '../../http/index.js';
import type { JsonObject } from '../wire/json-value.js';

/**
 * Whose fault an attempt's failure is, which decides what may follow:
 * `request`: nobody else would take it either: stop. `key`: our key at this provider: another deployment may answer.
 * `deployment`: what is asked for is not to be had there, or what came, whole and paid, is of no use: another one may answer, to ask
 * here again would not help or be paid twice, and it says nothing of whether the provider is well.
 * `upstream`: the provider or the way to it: here again, or another deployment.
 */
export type Blame = 'request' | 'key' | 'deployment' | 'upstream';

/** What finds a provider's answer again in its own books. */
export interface AnswerMark {
  readonly status: number;
  /** As the provider calls the request, where it does. */
  readonly requestId?: string | undefined;
}

export interface UpstreamFailureOptions extends ApiErrorOptions {
  readonly mark?: AnswerMark | undefined;
  /** What the provider has counted all the same and no chunk has told, in the shape of OpenAI's `usage`: it is billed. */
  readonly usage?: JsonObject;
}

/** One attempt at one deployment failed. The message never quotes more of the provider than its text about the caller's request. */
export class UpstreamFailure extends ApiError {
  override readonly name = 'UpstreamFailure';
  readonly usage: JsonObject | undefined;
  /** Undefined: nothing was answered. */
  readonly mark: AnswerMark | undefined;
  /** What a log may have in place of the message: a provider's words about a request may quote the prompt. */
  readonly loggedAs: string | undefined;

  constructor(
    readonly blame: Blame,
    code: ErrorCode,
    message: string,
    options: UpstreamFailureOptions = {},
  ) {
    super(code, message, options);
    this.usage = options.usage;
    this.mark = options.mark;
    this.loggedAs = blame === 'request' ? 'the provider refused the request' : undefined;
  }

  /** The same, of an answer that can be found again. */
  markedBy(mark: AnswerMark): UpstreamFailure {
    return this.#with({ mark });
  }

  /**
   * As the caller is told of it once this service has tried all it may. The official clients would try everything again, each try
   * here being several; only a rate limit, which passes, is left to them.
   */
  afterAllAttempts(): UpstreamFailure {
    if (this.blame === 'request' || this.blame === 'key' || this.code === 'rate_limit_exceeded') return this;
    return this.#with({ isRetryable: false });
  }

  #with(changes: UpstreamFailureOptions): UpstreamFailure {
    const { param, retryAfterMs, isRetryable, reportedCode, cause, usage, mark } = this;
    return new UpstreamFailure(this.blame, this.code, this.message, {
      reportedCode,
      cause,
      mark,
      ...(param !== undefined && { param }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(isRetryable !== undefined && { isRetryable }),
      ...(usage !== undefined && { usage }),
      ...changes,
    });
  }
}
