import { instant } from './checks.js';
import { type Check, Optional, Required } from './shape.js';

/** A key's SHA-256 in hex. */
export const keyHash: Check = (value) =>
  /^[0-9a-f]{64}$/i.test(String(value)) ? undefined : 'must be the SHA-256 of the key: 64 hex digits, in quotes';

/** One key of a caller, and when it counts. */
export class KeyFile {
  @Required(keyHash)
  sha256!: string;

  /** From when on; left out: always has. */
  @Optional(instant)
  notBefore?: string;

  /** Until when; left out: never ends. */
  @Optional(instant)
  expires?: string;
}
