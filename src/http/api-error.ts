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

/** The longest message, characters: it may quote a caller's word, and a body of megabytes may be one word. */
export const MESSAGE_LIMIT = 800;
/** The longest path of a member, characters. */
export const PARAM_LIMIT = 256;

/**
 * An outcome that the caller is told about, in OpenAI's error shape. The HTTP status follows from the code by the one table in
 * status-table.ts. The message goes out as it is: it never holds a secret, a stack or a provider's raw text.
 * What is longer than `MESSAGE_LIMIT` and `PARAM_LIMIT` loses its middle: what is wrong is said at the end.
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
    super(shortened(message, MESSAGE_LIMIT), options.cause === undefined ? undefined : { cause: options.cause });
    this.param = options.param === undefined ? undefined : shortened(options.param, PARAM_LIMIT);
    this.retryAfterMs = options.retryAfterMs;
    this.isRetryable = options.isRetryable;
    this.reportedCode = options.reportedCode ?? code;
    this.details = options.details ?? {};
  }
}

/** No pair of surrogates is cut in two. */
function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const tail = Math.floor(limit / 2);
  const start = text.slice(0, limit - tail - 1).replace(/[\ud800-\udbff]$/, '');
  const end = text.slice(-tail).replace(/^[\udc00-\udfff]/, '');
  return `${start}…${end}`;
}
