import { BlockList, isIPv4, isIPv6 } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const HOST = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^[\]:]+))(?::\d{1,5})?$/i;

/**
 * Whether a Host header names this machine's loopback: `localhost`, 127.0.0.0/8 or `[::1]`, with any port. A page that rebinds
 * its DNS name to 127.0.0.1 still sends its own name here, and is told apart by it.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  const groups = host === undefined ? undefined : HOST.exec(host)?.groups;
  const v6 = groups?.['v6'];
  if (v6 !== undefined) return isIPv6(v6) && LOOPBACK.check(v6, 'ipv6');
  const name = groups?.['name']?.toLowerCase();
  if (name === undefined) return false;
  return name === 'localhost' || (isIPv4(name) && LOOPBACK.check(name, 'ipv4'));
}
