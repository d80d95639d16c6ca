import { duration } from './checks.js';
import { Optional } from './shape.js';

const DAY_MS = 86_400_000;

export const LONGEST_KEPT_MS = 400 * DAY_MS;

/** What is written down of every call. */
export class LedgerFile {
  /** How long an entry is kept. */
  @Optional(duration(DAY_MS, LONGEST_KEPT_MS))
  keepMs: number | string = '35d';
}
