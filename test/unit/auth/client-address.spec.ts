import { describe, expect, it } from '@jest/globals';
import { clientAddress, networkOf } from '../../../src/auth/client-address.js';

describe('clientAddress()', () => {
  it.each([
    ['203.0.113.9', '10.0.0.1', '203.0.113.9'],
    ['::ffff:203.0.113.9', '10.0.0.1', '203.0.113.9'],
    ['2001:db8::1', '10.0.0.1', '2001:db8::1'],
    ['203.0.113.9:1234', '10.0.0.1', '10.0.0.1'],
    ['unknown\n{"level":"fatal"}', '::ffff:10.0.0.1', '10.0.0.1'],
    ['', undefined, '0.0.0.0'],
  ])('takes %j behind %s for %s', (ip, remoteAddress, address) => {
    expect(clientAddress({ ip, socket: { remoteAddress } })).toBe(address);
  });
});

describe('networkOf()', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:ffff::2', '2001:db8:0:0::/64'],
    ['2001:0db8:0000:0001:1:2:3:4', '2001:db8:0:1::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6::', '1:2:3:4::/64'],
  ])('counts %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
