import { byteSize, duration } from './checks.js';
import { Optional } from './shape.js';

const DAY_MS = 86_400_000;

/** Answers that are kept to be given again. How long is said by each model's cacheTtlMs. */
export class CacheFile {
  /** All callers' answers together. */
  @Optional(byteSize)
  maxBytes: number | string = '256mb';

  /** A larger answer is not kept. */
  @Optional(byteSize)
  maxEntryBytes: number | string = '1mb';

  /** For how long an Idempotency-Key gets the same answer. */
  @Optional(duration(60_000, 30 * DAY_MS))
  idempotencyMs: number | string = '1d';
}
