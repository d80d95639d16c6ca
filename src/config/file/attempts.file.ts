import { countUpTo, duration } from './checks.js';
import { Optional } from './shape.js';

const MOST_ATTEMPTS = 100;
const MINUTE_MS = 60_000;

/** How often, and with which waits, a request is tried before its failure is told. */
export class AttemptsFile {
  /** Calls of providers for one request, over all deployments and fallbacks. */
  @Optional(countUpTo(MOST_ATTEMPTS))
  perRequest = 6;

  /** Of them calls of one deployment; left out: two, as far as there are so many. */
  @Optional(countUpTo(MOST_ATTEMPTS))
  perDeployment?: number;

  /** The first retry at a deployment waits up to this, each further one up to twice as long. */
  @Optional(duration(1, MINUTE_MS))
  firstBackoffMs: number | string = '250ms';

  @Optional(duration(1, 10 * MINUTE_MS))
  longestBackoffMs: number | string = '4s';

  /** A provider that asks for more patience than this is left while another one could answer. */
  @Optional(duration(0, 10 * MINUTE_MS))
  patienceMs: number | string = '10s';
}
