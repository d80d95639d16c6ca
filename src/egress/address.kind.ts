import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * `public`: anybody's. `private`: of this machine, its network or its cluster. `never`: no server that answers calls has such an
 * address; a cloud's metadata service, which hands credentials out to whoever asks, has.
 */
export type AddressKind = 'public' | 'private' | 'never';

/** https://www.iana.org/assignments/iana-ipv4-special-registry */
const PRIVATE = blockList(
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  // Carriers' and clusters' own (RFC 6598).
  ['100.64.0.0', 10],
  // For measurements by RFC 2544; VPN clients resolve names to it.
  ['198.18.0.0', 15],
  ['::1', 128],
  ['fc00::', 7],
);

const NEVER = blockList(
  ['0.0.0.0', 8],
  // Link-local, and the metadata services of AWS, Azure, Google Cloud and most others.
  ['169.254.0.0', 16],
  // The metadata services of Oracle Cloud, Alibaba Cloud and Azure's host that do not stand in link-local space.
  ['192.0.0.0', 24],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  // Documentation, multicast, reserved, broadcast.
  ['192.0.2.0', 24],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
  ['::', 128],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['100::', 64],
  ['2001:db8::', 32],
  // Teredo hides an address in bits that are turned round, and is given up.
  ['2001::', 32],
  // The metadata services of AWS and Google Cloud.
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
);

/** Prefixes after which an IPv4 address stands, in groups: mapped, compatible, NAT64 (RFC 6052, RFC 8215), 6to4. */
const EMBEDDED: readonly (readonly [prefix: readonly number[], at: number])[] = [
  [[0, 0, 0, 0, 0, 0xffff], 6],
  [[0, 0, 0, 0, 0, 0], 6],
  [[0x64, 0xff9b, 0, 0, 0, 0], 6],
  [[0x64, 0xff9b, 1], 6],
  [[0x2002], 1],
];

/** Of which kind an IP address is, by the worst that it may stand for. What is no address is `never`. */
export function addressKind(address: string): AddressKind {
  if (isIPv4(address)) return kindIn(address, 'ipv4');
  // One with a zone is link-local.
  if (!isIPv6(address) || address.includes('%')) return 'never';
  const own = kindIn(address, 'ipv6');
  if (own !== 'public') return own;
  const inside = embeddedIn(groupsOf(address));
  return inside === undefined ? own : kindIn(inside, 'ipv4');
}

function kindIn(address: string, family: 'ipv4' | 'ipv6'): AddressKind {
  if (NEVER.check(address, family)) return 'never';
  return PRIVATE.check(address, family) ? 'private' : 'public';
}

function embeddedIn(groups: readonly number[]): string | undefined {
  const found = EMBEDDED.find(([prefix]) => prefix.every((group, index) => groups[index] === group));
  if (found === undefined) return undefined;
  const [high = 0, low = 0] = groups.slice(found[1]);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** The eight groups of an IPv6 address. A URL writes it in hexadecimal alone, also where it ends as IPv4 does. */
function groupsOf(address: string): readonly number[] {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = '', after] = text.split('::').map((part) => (part === '' ? [] : part.split(':')));
  if (!Array.isArray(before)) return [];
  const missing = after === undefined ? 0 : 8 - before.length - after.length;
  const zeros = Array.from({ length: missing }, () => '0');
  return [...before, ...zeros, ...(after ?? [])].map((group) => Number.parseInt(group, 16));
}

function blockList(...ranges: readonly (readonly [address: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, isIPv4(address) ? 'ipv4' : 'ipv6');
  return list;
}
