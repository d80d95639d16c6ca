import { addressIn, addressKind } from '../../egress/index.js';
import { SCOPES, TIERS, TOKEN_ALGORITHMS, type Scope, type Tier, type TokenAlgorithm } from '../caller.settings.js';
import { isLoopback } from '../loopback.js';
import { duration, listOf, oneOf, text, textLike, toggle } from './checks.js';
import { type Check, MappingList, Optional, OptionalMapping, Required } from './shape.js';

const HOUR_MS = 3_600_000;

export const LONGEST_SKEW_MS = 300_000;
export const LONGEST_TOKEN_AGE_MS = 30 * 24 * HOUR_MS;

const someOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length === 0 ? 'must have at least one entry' : listOf(check)(value);

/** The keys decide who is let in: nobody on the way may exchange them. */
const jwksUrl: Check = (value) => {
  const fault = text(value);
  if (fault !== undefined) return fault;
  const url = URL.canParse(String(value)) ? new URL(String(value)) : undefined;
  if (url === undefined || !isSafe(url)) return 'must be an https URL (http only on this machine)';
  if (url.username + url.password + url.hash !== '') return 'must hold no user, no password and no #';
  return isNeverReached(url) ? 'must not be a link-local, metadata or reserved address' : undefined;
};

function isSafe({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/g, '')));
}

function isNeverReached({ hostname }: URL): boolean {
  const address = addressIn(hostname);
  return address !== undefined && addressKind(address) === 'never';
}

/** Who one subject is. */
export class SubjectFile {
  @Required(text)
  subject!: string;

  @Required(text)
  caller!: string;
}

export class TierValueFile {
  @Required(text)
  value!: string;

  @Required(oneOf(TIERS))
  tier!: Tier;
}

/** Which claim tells the tier. */
export class TierClaimFile {
  @Required(text)
  claim!: string;

  @MappingList(() => TierValueFile, 1)
  values!: TierValueFile[];
}

export class ScopeValueFile {
  @Required(text)
  value!: string;

  @Required(oneOf(SCOPES))
  scope!: Scope;
}

/** Which claim tells the scopes. */
export class ScopeClaimFile {
  @Required(text)
  claim!: string;

  @MappingList(() => ScopeValueFile, 1)
  values!: ScopeValueFile[];
}

/** Whose JSON Web Tokens are taken. */
export class IssuerFile {
  @Required(text)
  issuer!: string;

  @Required(jwksUrl)
  jwksUrl!: string;

  /** The host of `jwksUrl` may have a private address although nothing in its name says so. */
  @Optional(toggle)
  allowPrivate = false;

  @Required(someOf(text))
  audience!: string[];

  @Optional(someOf(oneOf(TOKEN_ALGORITHMS)))
  algorithms: TokenAlgorithm[] = ['RS256', 'ES256'];

  @Optional(someOf(textLike(/^[\w.+-]+$/, 'a type such as JWT or at+jwt, without application/')))
  types: string[] = ['JWT', 'at+jwt'];

  @Optional(duration(0, LONGEST_SKEW_MS))
  clockSkewMs: number | string = '30s';

  @Optional(duration(1_000, LONGEST_TOKEN_AGE_MS))
  maxAgeMs?: number | string;

  /** Who everybody is whom `subjects` does not name; left out: nobody. */
  @Optional(text)
  caller?: string;

  @MappingList(() => SubjectFile, 0)
  subjects: SubjectFile[] = [];

  @OptionalMapping(() => TierClaimFile)
  tiers?: TierClaimFile;

  @OptionalMapping(() => ScopeClaimFile)
  scopes?: ScopeClaimFile;
}
