import type { Readable } from 'node:stream';
import type { HttpService } from '@nestjs/axios';
import { type Tier, TIERS } from '../../config/index.js';
import type { Upstream } from '../catalogue/catalogue.js';
import { readText } from '../upstream/body.reader.js';
import { member, parseObject } from '../wire/json-value.js';

const CONNECT_MS = 3_000;
const PATIENCE_MS = 10_000;
const UNITS = ['requests', 'tokens', 'usd'] as const;

/** What a provider says of a key. */
export type UsageAnswer =
  | ({ readonly kind: 'worth'; readonly tier: Tier } & QuotaLeft)
  /** 401 or 403: the key is bad. */
  | { readonly kind: 'refused'; readonly status: number }
  /** It answered, but told nothing of a tier. */
  | { readonly kind: 'silent'; readonly status: number };

/** What is left of a key; nothing where it was not told, or not so that it can be understood. */
export interface QuotaLeft {
  readonly remaining?: number;
  readonly unit?: (typeof UNITS)[number];
  /** What could not be understood, for the log. */
  readonly doubt?: string;
}

/**
 * Asks a provider what our key is worth: `GET {baseUrl}{usagePath}`, answered `{tier, remaining?, remainingUnit?}`.
 *
 * @throws what the transport throws, and the signal's reason
 */
export async function readUsageOf(
  http: HttpService,
  { baseUrl, apiKey }: Upstream,
  path: string,
  signal: AbortSignal,
): Promise<UsageAnswer> {
  const answer = await http.axiosRef.get<Readable>(`${baseUrl}${path}`, {
    headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json' },
    timeout: CONNECT_MS,
    signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
  });
  const text = await readText(answer.data, () => undefined);
  const { status } = answer;
  if (status === 401 || status === 403) return { kind: 'refused', status };
  const body = status === 200 ? parseObject(text) : undefined;
  const tier = TIERS.find((name) => name === member(body, 'tier'));
  return tier === undefined ? { kind: 'silent', status } : { kind: 'worth', tier, ...quotaLeft(body) };
}

/**
 * A number below 0 is an account that is overdrawn: nothing is left. What is counted in a unit that nobody knows is not guessed at, nor is
 * what is no number.
 */
export function quotaLeft(body: unknown): QuotaLeft {
  const remaining = member(body, 'remaining');
  if (remaining === undefined || remaining === null) return {};
  if (typeof remaining !== 'number' || !Number.isFinite(remaining)) return { doubt: 'remaining is not a number' };
  const told = member(body, 'remainingUnit') ?? 'requests';
  const unit = UNITS.find((name) => name === told);
  if (unit === undefined) return { doubt: `remainingUnit is none of ${UNITS.join(', ')}` };
  return { remaining: Math.max(0, remaining), unit };
}
