import { ProviderError } from '../provider.error.js';
import { windowName, type WindowLimit } from './quota.limits.js';

export type QuotaKind = 'requests' | 'tokens' | 'concurrency';

/** Why a request is refused. */
export interface QuotaRefusal {
  readonly kind: QuotaKind;
  /** The window that has no room; undefined with concurrency. */
  readonly window: WindowLimit | undefined;
  readonly limit: number;
  readonly used: number;
  readonly requested: number;
  /** Until it would fit if nothing else came, > 0; undefined: it never will. */
  readonly waitMs: number | undefined;
}

/** The one that lasts longest. */
export function longestOf(refusals: readonly QuotaRefusal[]): QuotaRefusal | undefined {
  return refusals.toSorted((one, other) => lasting(other) - lasting(one))[0];
}

function lasting({ waitMs }: QuotaRefusal): number {
  // Not Infinity: two of them differ by NaN.
  return waitMs ?? Number.MAX_SAFE_INTEGER;
}

/** The 429 in OpenAI's wording. One that can never fit has no `retry-after`: waiting is no help. */
export function rateLimitError(model: string, refusal: QuotaRefusal): ProviderError {
  const { kind, limit, used, requested, waitMs } = refusal;
  const details = { type: kind === 'tokens' ? 'tokens' : 'requests', code: 'rate_limit_exceeded' };
  const figures = `Limit ${limit}, Used ${used}, Requested ${requested}.`;
  if (waitMs === undefined) {
    const remedy = 'The input or output tokens must be reduced in order to run successfully.';
    const message = `Request too large for ${model} on ${rateName(refusal)}: Limit ${limit}, Requested ${requested}. ${remedy}`;
    return new ProviderError(429, message, details);
  }
  const seconds = Math.ceil(waitMs) / 1_000;
  const message = `Rate limit reached for ${model} on ${rateName(refusal)}: ${figures} Please try again in ${seconds}s.`;
  return new ProviderError(429, message, details, {
    'retry-after': String(Math.ceil(seconds)),
    'retry-after-ms': String(Math.ceil(waitMs)),
  });
}

function rateName({ kind, window }: QuotaRefusal): string {
  if (window === undefined) return 'concurrent requests';
  const short = kind === 'tokens' ? 'TPM' : 'RPM';
  return windowName(window) === 'per min' ? `${kind} per min (${short})` : `${kind} ${windowName(window)}`;
}
