import { isCallerName } from '../caller-keys.js';
import { SCOPES, TIERS, type Scope, type Tier } from '../caller.settings.js';
import { isOrigin } from '../origin.js';
import { BudgetFile } from './budget.file.js';
import { listOf, oneOf, positive, text } from './checks.js';
import { KeyFile, keyHash } from './key.file.js';
import { LimitsFile } from './limits.file.js';
import { type Check, Mapping, MappingList, Optional, OptionalMapping, Required } from './shape.js';

const originList: Check = (value) => {
  if (Array.isArray(value) && value.length === 0)
    return 'must have at least one entry: leave it out to let any page call';
  return listOf((item) =>
    isOrigin(String(item)) ? undefined : 'must be an origin such as https://app.example.com, without a path',
  )(value);
};

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
  @Optional(keyHash)
  keySha256?: string;

  /** Further keys, each with a time of its own: the old and the new one of a rotation. */
  @MappingList(() => KeyFile, 0)
  keys: KeyFile[] = [];

  /** The only pages from which it may call; left out: from anywhere, also without a browser. */
  @Optional(originList)
  origins?: string[];

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
