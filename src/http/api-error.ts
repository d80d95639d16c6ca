import type { ErrorCode } from './status-table.js';

export interface ApiErrorOptions {
  /** The request member at fault, e.g. `messages[0].role`. */
  readonly param?: string;
  /** Milliseconds after which another try makes sense; becomes Retry-After and retry-after-ms. */
  readonly retryAfterMs?: number;
  /** Overrides the status table's `x-should-retry`. */
  readonly isRetryable?: boolean;
  /** A provider's own, finer code for the same decision (`content_filter`, `unsupported_value`): what the body's `code` says. */
  readonly reportedCode?: string;
  /** Facts of this error alone, as further members of the body's `error`. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
  readonly cause?: unknown;
}

/**
 * An outcome that the caller is told about, in OpenAI's error shape. The HTTP status follows from the code by the one table in
 * status-table.ts. The message goes out as it is: it never holds a secret, a stack or a provider's raw text.
 */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly param: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isRetryable: boolean | undefined;
  readonly reportedCode: string;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;

  constructor(
    readonly code: ErrorCode,
    message: string,
    options: ApiErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.param = options.param;
    this.retryAfterMs = options.retryAfterMs;
    this.isRetryable = options.isRetryable;
    this.reportedCode = options.reportedCode ?? code;
    this.details = options.details ?? {};
  }
}
