import { isIP, isIPv4 } from 'node:net';

/** What Fastify knows of who is at the other end; `ip` follows `X-Forwarded-For` as far as TRUST_PROXY goes. */
export interface Peer {
  readonly ip: string;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The address of the client, always an IP address and fit for a log. Where a proxy that is trusted passes on something else, it is
 * the proxy's own; a connection that is already gone has none, `0.0.0.0`.
 */
export function clientAddress({ ip, socket }: Peer): string {
  const address = isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
  const plain = MAPPED.exec(address)?.[1] ?? address;
  return isIP(plain) === 0 ? '0.0.0.0' : plain;
}

/** Who counts as one client: an IPv4 address, or the /64 of an IPv6 address, all of which one household or machine has. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address;
  const [withoutZone = ''] = address.toLowerCase().split('%', 1);
  const [head = '', tail] = withoutZone.split('::');
  const front = groupsOf(head);
  const back = groupsOf(tail ?? '');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: gap }, () => '0'), ...back];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** The last 32 bits may stand as an IPv4 address: two groups. */
function groupsOf(text: string): readonly string[] {
  return text.split(':').flatMap((group) => (group === '' ? [] : group.includes('.') ? [group, ''] : [group]));
}
