import { count } from './checks.js';
import { Optional } from './shape.js';

/** What a model, a deployment or a caller may use. What is left out is unlimited. */
export class LimitsFile {
  /** Requests a minute. */
  @Optional(count)
  rpm?: number;

  /** Tokens a minute. */
  @Optional(count)
  tpm?: number;

  /** Calls at one time. */
  @Optional(count)
  concurrency?: number;
}
