import { isCallerName } from '../caller-keys.js';
import { SCOPES, TIERS, type Scope, type Tier } from '../settings.js';
import { BudgetFile } from './budget.file.js';
import { listOf, oneOf, positive, text } from './checks.js';
import { LimitsFile } from './limits.file.js';
import { Mapping, Optional, OptionalMapping, Required } from './shape.js';

/** Somebody who may call. */
export class CallerFile {
  /** The caller id: in logs, metrics, ownership. */
  @Required(
    (value) =>
      text(value) ??
      (isCallerName(String(value)) ? undefined : 'must be up to 64 letters, digits and . _ @ -, other than anonymous'),
  )
  name!: string;

  /** SHA-256 of the key in hex. The key itself never stands in the file. */
  @Required((value) =>
    /^[0-9a-f]{64}$/i.test(String(value)) ? undefined : 'must be the SHA-256 of the key: 64 hex digits, in quotes',
  )
  keySha256!: string;

  @Required(oneOf(TIERS))
  tier!: Tier;

  /** Share under contention; left out, it goes by tier: 1, 2, 4. */
  @Optional(positive(1_000))
  weight?: number;

  @Optional(listOf(oneOf(SCOPES)))
  scopes: Scope[] = ['chat'];

  @Mapping(() => LimitsFile)
  limits: LimitsFile = new LimitsFile();

  /** Callers with the same group are given each other's cached answers; left out: nobody's but its own. */
  @Optional(text)
  cacheGroup?: string;

  @OptionalMapping(() => BudgetFile)
  budget?: BudgetFile;
}
