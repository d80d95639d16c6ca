import { OriginNotAllowedError } from './auth.errors.js';
import type { Caller } from './caller.js';

/**
 * Asks where a caller with origins of its own calls from. CORS alone does not: a preflight names no caller, and the answer to it is
 * a browser's to obey. A request without an Origin comes from no page of another site, so it is none of them.
 *
 * @param origin the request's header
 * @throws {OriginNotAllowedError}
 */
export function checkOrigin({ origins }: Caller, origin: string | undefined): void {
  if (origins === undefined) return;
  if (origin === undefined || !origins.includes(origin)) throw new OriginNotAllowedError();
}
