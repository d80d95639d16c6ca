import { BlockList, isIPv4, isIPv6 } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const HOST = /^(?:\[(?<address>[0-9a-f:.]+)\]|(?<name>[^[\]:]+))(?::\d{1,5})?$/i;

/** RFC 3986 section 3.2.2: a name, an IPv4 address, or an IP literal in brackets; also nothing, where a target has no authority. */
const VALID = /^(?:\[[\da-fv:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Whether a Host header has a value that may stand there: to any other one the answer is 400 (RFC 9112 section 3.2). */
export function isValidHost(host: string): boolean {
  return VALID.test(host);
}

/**
 * Whether a Host header names this machine's loopback: `localhost`, 127.0.0.0/8 or `[::1]`, with any port. A page that rebinds
 * its DNS name to 127.0.0.1 still sends its own name here, and is told apart by it.
 */
export function isLoopbackHost(host: string | undefined): boolean {
  const groups = HOST.exec(host ?? '')?.groups;
  const address = groups?.['address'];
  if (address !== undefined) return isIPv6(address) && LOOPBACK.check(address, 'ipv6');
  return isLoopbackName(groups?.['name']?.toLowerCase() ?? '');
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || (isIPv4(name) && LOOPBACK.check(name, 'ipv4'));
}
