export interface StoreErrorOptions {
  /** False where the command surely had no effect; true where it may have had one, although no answer came. */
  readonly mayHaveRun?: boolean;
  readonly cause?: unknown;
}

/** The store did not do what it was asked. Its `code` makes it a 503 in the status table of http/. */
export abstract class StoreError extends Error {
  readonly code = 'store_unavailable';
  /** Whether the same command may succeed later without anybody changing anything. */
  abstract readonly isRetryable: boolean;
  readonly mayHaveRun: boolean;

  protected constructor(message: string, { mayHaveRun = false, cause }: StoreErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.mayHaveRun = mayHaveRun;
  }
}

/** Redis is down, refuses, is starting or failing over. */
export class StoreUnavailableError extends StoreError {
  override readonly name = 'StoreUnavailableError';
  readonly isRetryable = true;

  constructor(message: string, options: StoreErrorOptions = {}) {
    super(message, options);
  }
}

/** No answer within the command's deadline. It may have run all the same, or may still run. */
export class StoreTimeoutError extends StoreError {
  override readonly name = 'StoreTimeoutError';
  readonly isRetryable = true;

  constructor(
    command: string,
    readonly timeoutMs: number,
  ) {
    super(`redis did not answer ${command} within ${timeoutMs} ms: it is frozen, overloaded or cut off`, {
      mayHaveRun: true,
    });
  }
}

export type StoreFaultReason =
  | 'wrong_password'
  | 'wrong_topology'
  | 'unknown_master'
  | 'wrong_database'
  | 'old_server'
  | 'wrong_tls'
  | 'no_permission'
  | 'wrong_type'
  | 'cross_slot'
  | 'script_failed'
  | 'wrong_options';

/** Somebody has to change something; the message says what. */
export class StoreConfigurationError extends StoreError {
  override readonly name = 'StoreConfigurationError';
  readonly isRetryable = false;

  constructor(
    readonly reason: StoreFaultReason,
    message: string,
    options: StoreErrorOptions = {},
  ) {
    super(message, options);
  }
}
