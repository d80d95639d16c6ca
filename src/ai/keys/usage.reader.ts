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
  | { readonly kind: 'worth'; readonly tier: Tier; readonly remaining?: number; readonly unit?: (typeof UNITS)[number] }
  /** 401 or 403: the key is bad. */
  | { readonly kind: 'refused'; readonly status: number }
  /** It answered, but told nothing of a tier. */
  | { readonly kind: 'silent'; readonly status: number };

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
  if (tier === undefined) return { kind: 'silent', status };
  const remaining = member(body, 'remaining');
  const unit = UNITS.find((name) => name === member(body, 'remainingUnit'));
  const isTold = typeof remaining === 'number' && Number.isFinite(remaining) && remaining >= 0;
  return { kind: 'worth', tier, ...(isTold && { remaining }), ...(unit !== undefined && { unit }) };
}
