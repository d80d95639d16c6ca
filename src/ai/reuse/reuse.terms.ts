import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../http/index.js';
import type { ChatRequest } from '../call/chat-request.js';

/** What a request's headers say of the use of other calls' answers. */
export interface ReuseTerms {
  /** `Cache-Control: no-cache`, or `no-store`, which is more. */
  readonly cacheControl?: 'no-cache' | 'no-store';
  /** `Idempotency-Key`. */
  readonly idempotencyKey?: string;
}

/** How one call meets the cache and the calls under way. */
export interface ReuseMode {
  /** It may be answered with what another call was answered. */
  readonly isShared: boolean;
  /** What it is answered may be kept for others. */
  readonly isKept: boolean;
}

/** 1 to 255 visible characters of ASCII. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** @throws ApiError invalid_request for an Idempotency-Key that is none */
export function readReuseTerms({ headers }: Pick<FastifyRequest, 'headers'>): ReuseTerms {
  const cacheControl = cacheControlOf(headers['cache-control']);
  const idempotencyKey = readKey(headers['idempotency-key']);
  return { ...(cacheControl && { cacheControl }), ...(idempotencyKey !== undefined && { idempotencyKey }) };
}

/** Several answers to one question are wanted to differ: `n` above 1 is as good as `cache: false`. */
export function reuseMode({ cacheControl }: ReuseTerms, { cache, n }: ChatRequest): ReuseMode {
  if (cache === false || (n ?? 1) > 1 || cacheControl === 'no-store') return { isShared: false, isKept: false };
  return { isShared: cacheControl === undefined, isKept: true };
}

/** RFC 9111, section 5.2.1: directives are separated by commas, and their names are of any case. */
function cacheControlOf(header: string | undefined): ReuseTerms['cacheControl'] {
  const directives = (header ?? '').split(',').map((directive) => directive.trim().toLowerCase());
  if (directives.includes('no-store')) return 'no-store';
  // What a browser's reload sends.
  return directives.includes('no-cache') || directives.includes('max-age=0') ? 'no-cache' : undefined;
}

/** The key of another request. */
export function idempotencyMismatch(): ApiError {
  const message = 'this Idempotency-Key was used for another request';
  return new ApiError('idempotency_mismatch', message, { param: 'Idempotency-Key' });
}

function readKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  const name = 'Idempotency-Key';
  throw new ApiError('invalid_request', `${name} must be 1 to 255 visible ASCII characters`, { param: name });
}
