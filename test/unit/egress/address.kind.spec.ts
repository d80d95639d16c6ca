import { describe, expect, it } from '@jest/globals';
import { addressKind, addressIn, isPrivateName } from '../../../src/egress/index.js';

describe('addressKind()', () => {
  it.each(['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '100.63.255.255', '100.128.0.1', '2606:4700::1111'])(
    'knows a public address: %s',
    (address) => {
      expect(addressKind(address)).toBe('public');
    },
  );

  it.each([
    ...['127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
    ...['100.64.0.1', '100.127.255.254', '198.18.0.1', '::1', 'fc00::1', 'fd12:3456::1'],
    // The same behind IPv6: mapped, compatible, NAT64, 6to4.
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:10.1.2.3', '::10.0.0.1', '64:ff9b::10.0.0.1'],
    ...['64:ff9b:1::192.168.0.1', '2002:7f00:1::', '2002:c0a8:101::1'],
  ])('knows a private address: %s', (address) => {
    expect(addressKind(address)).toBe('private');
  });

  it.each([
    ...['169.254.169.254', '169.254.170.2', '0.0.0.0', '0.1.2.3', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
    ...['224.0.0.1', '255.255.255.255', '240.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1'],
    ...['::', 'fe80::1', 'fe80::1%eth0', 'ff02::1', 'fd00:ec2::254', '2001:db8::1', '2001::1'],
    ...['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::169.254.169.254', '2002:a9fe:a9fe::'],
    ...['', 'localhost', '127.1', '0x7f000001', '1.2.3', '[::1]'],
  ])('never takes %j', (address) => {
    expect(addressKind(address)).toBe('never');
  });
});

describe('isPrivateName()', () => {
  it.each([
    ...['localhost', 'LOCALHOST', 'api.localhost', 'ollama', 'vllm.models.svc', 'vllm.models.svc.cluster.local'],
    ...['printer.local', 'llm.corp.internal', 'nas.home.arpa', 'localhost.', '127.0.0.1', '[::1]', '10.1.2.3'],
  ])('means a private place: %s', (name) => {
    expect(isPrivateName(name)).toBe(true);
  });

  it.each([
    ...['api.openai.com', 'localhost.example.com', 'internal.example', 'svc.example.com', 'a.mylocal'],
    ...['1.1.1.1', '169.254.169.254', '[fe80::1]'],
  ])('means none by itself: %s', (name) => {
    expect(isPrivateName(name)).toBe(false);
  });

  it('sees through every spelling of an address, since a URL has one only', () => {
    for (const spelling of ['2130706433', '0x7f000001', '0177.0.0.1', '127.1', '127.0.0.1.'])
      expect([spelling, addressIn(new URL(`http://${spelling}/`).hostname)]).toEqual([spelling, '127.0.0.1']);
    for (const spelling of ['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518'])
      expect(addressKind(addressIn(new URL(`http://${spelling}/`).hostname) ?? '')).toBe('never');
    expect(addressKind(addressIn(new URL('http://[::ffff:127.0.0.1]/').hostname) ?? '')).toBe('private');
  });
});
