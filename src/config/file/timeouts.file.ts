import { duration } from './checks.js';
import { Optional } from './shape.js';

const HOUR_MS = 3_600_000;

/** How long each stage of one attempt may take. */
export class TimeoutsFile {
  /** TCP and TLS. */
  @Optional(duration(1, HOUR_MS))
  connectMs: number | string = '3s';

  /** From sending to the first content. */
  @Optional(duration(1, HOUR_MS))
  firstTokenMs: number | string = '20s';

  /** Between two pieces of an answer. */
  @Optional(duration(1, HOUR_MS))
  idleMs: number | string = '30s';
}
