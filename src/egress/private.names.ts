import { isIP } from 'node:net';
import { addressKind } from './address.kind.js';

/**
 * Names that the public DNS never has, so that nobody outside can say what they resolve to: `localhost` (RFC 6761), `.local` (RFC
 * 6762, and clusters' `.svc.cluster.local`), `.internal` (ICANN, 2024), `.home.arpa` (RFC 8375), and clusters' short `.svc`.
 */
const PRIVATE_SUFFIX = /\.(?:localhost|local|internal|svc|home\.arpa)$/;

/**
 * Whether a URL's host means a private place by itself: a private address, a single word as containers have it, or a name that only a
 * private network knows.
 */
export function isPrivateName(hostname: string): boolean {
  const address = addressIn(hostname);
  if (address !== undefined) return addressKind(address) === 'private';
  const name = hostname.toLowerCase().replace(/\.$/, '');
  return !name.includes('.') || PRIVATE_SUFFIX.test(name);
}

/** The IP address that a URL's host is, without the brackets of IPv6; undefined for a name. */
export function addressIn(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}
