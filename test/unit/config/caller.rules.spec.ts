import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { hashKey } from '../../../src/config/index.js';
import { caller, faultsOf, faultsOfFile, fileWith, load, loadFile } from './sources.js';

const STRONG = '0123456789abcdef';

describe('callers', () => {
  it('come from CALLER_KEYS, hashed, with the weight of their tier', () => {
    const { callers, server } = load({
      environment: { CALLER_KEYS: `a:free:${STRONG}:x, b:enterprise:sk-${STRONG},` },
    });
    expect(callers).toEqual([
      { name: 'a', tier: 'free', keys: [{ sha256: hashKey(`${STRONG}:x`) }], weight: 1, scopes: ['chat'], limits: {} },
      {
        name: 'b',
        tier: 'enterprise',
        keys: [{ sha256: hashKey(`sk-${STRONG}`) }],
        weight: 4,
        scopes: ['chat'],
        limits: {},
      },
    ]);
    expect(server.loopbackHostsOnly).toBe(false);
  });

  it('come from the file, with limits, budget and scopes', () => {
    const { callers } = loadFile(
      fileWith({
        callers: [
          caller({ keySha256: 'AB'.repeat(32) }),
          caller({
            name: 'ops',
            keySha256: 'cd'.repeat(32),
            tier: 'enterprise',
            weight: 8,
            scopes: ['chat', 'admin'],
            limits: { rpm: 5 },
            budget: { usdPerDay: 2, hard: true },
          }),
        ],
      }),
    );
    expect(callers).toEqual([
      { name: 'app', tier: 'pro', keys: [{ sha256: 'ab'.repeat(32) }], weight: 2, scopes: ['chat'], limits: {} },
      {
        name: 'ops',
        tier: 'enterprise',
        keys: [{ sha256: 'cd'.repeat(32) }],
        weight: 8,
        scopes: ['chat', 'admin'],
        limits: { rpm: 5 },
        budget: { usdPerDay: 2, hard: true },
      },
    ]);
  });

  it('are hashed with SHA-256', () => {
    expect(hashKey('ключ')).toBe(createHash('sha256').update('ключ').digest('hex'));
  });

  it.each([
    ['nonsense', 'CALLER_KEYS[0]: must be name:tier:key'],
    ['a:pro', 'CALLER_KEYS[0]: must be name:tier:key'],
    [
      `:pro:${STRONG}`,
      'CALLER_KEYS[0]: must begin with a name of up to 64 letters, digits and . _ @ -, other than anonymous',
    ],
    [
      `Anonymous:pro:${STRONG}`,
      'CALLER_KEYS[0]: must begin with a name of up to 64 letters, digits and . _ @ -, other than anonymous',
    ],
    [
      `a:gold:${STRONG}`,
      'CALLER_KEYS[0]: must have one of the tiers free, pro, enterprise in second place: name:tier:key',
    ],
    ['a:pro:', 'CALLER_KEYS[0]: must end with a key of printable ASCII without spaces: name:tier:key'],
    [`a:pro:${STRONG},a:free:x${STRONG}`, 'CALLER_KEYS[1]: this name is taken by CALLER_KEYS[0]'],
    [`a:pro:${STRONG},b:free:${STRONG}`, 'CALLER_KEYS[1]: this key is the key of CALLER_KEYS[0] already'],
  ])('refuse CALLER_KEYS=%s', (keys, fault) => {
    expect(faultsOf({ environment: { CALLER_KEYS: keys } })).toEqual([fault]);
  });

  it('are unique over the file and CALLER_KEYS together', () => {
    const file = fileWith({
      callers: [
        caller(),
        caller({ name: 'b', keySha256: hashKey(STRONG) }),
        caller({ name: 'app', keySha256: 'cd'.repeat(32) }),
      ],
    });
    expect(faultsOfFile(file, { CALLER_KEYS: `b:pro:x${STRONG},c:pro:${STRONG}` })).toEqual([
      'callers[2].name: this name is taken by callers[0].name',
      'CALLER_KEYS[0]: this name is taken by callers[1].name',
      'CALLER_KEYS[1]: this key is the key of callers[1].keySha256 already',
    ]);
  });

  it('with a guessable key are a notice, and a fault in production', () => {
    const environment = { CALLER_KEYS: 'a:pro:short' };
    expect(load({ environment }).notices.join('\n')).toMatch(
      /CALLER_KEYS\[0\]: must have a key of at least 16 characters/,
    );
    const production = { ...environment, NODE_ENV: 'production', STORE: 'memory', UPSTREAM: 'simulator' };
    expect(faultsOf({ environment: production })).toEqual([
      expect.stringMatching(/^CALLER_KEYS\[0\]: must have a key of at least 16/),
    ]);
  });
});

describe('CALLER_KEYS with several faults', () => {
  it('are told all of them at once, whatever kind they are of', () => {
    const keys = [`a:gold:${STRONG}`, 'b:pro:short', `c:pro:${STRONG}`, `c:free:x${STRONG}`, 'nonsense'];
    const production = { NODE_ENV: 'production', STORE: 'memory', UPSTREAM: 'simulator' };
    expect(faultsOf({ environment: { CALLER_KEYS: keys.join(), ...production } })).toEqual([
      expect.stringMatching(/^CALLER_KEYS\[0\]: must have one of the tiers/),
      expect.stringMatching(/^CALLER_KEYS\[1\]: must have a key of at least 16/),
      'CALLER_KEYS[4]: must be name:tier:key',
      'CALLER_KEYS[3]: this name is taken by CALLER_KEYS[2]',
    ]);
  });
});

describe('no callers', () => {
  it.each(['127.0.0.1', '127.3.2.1', 'localhost', '::1', '[::1]'])(
    'may call on %s, with a notice and loopback Host names only',
    (host) => {
      const { callers, server, notices } = load({ environment: { HOST: host } });
      expect(callers).toEqual([]);
      expect(server.loopbackHostsOnly).toBe(true);
      expect(notices.join('\n')).toMatch(/no callers are configured: everybody on this machine is "anonymous"/);
    },
  );

  it.each(['0.0.0.0', '::', '192.168.0.4', 'coordinator.internal', '1270.0.0.1.example'])(
    'are a fault on %s that says how to make a key',
    (host) => {
      const [fault, ...others] = faultsOf({ environment: { HOST: host } });
      expect(others).toEqual([]);
      expect(fault).toMatch(/^HOST: .* can be reached from other machines, but no callers are configured/);
      expect(fault).toContain('export CALLER_KEYS="app:enterprise:$(openssl rand -hex 24)"');
    },
  );

  it('are no second fault where CALLER_KEYS cannot be read', () => {
    expect(faultsOf({ environment: { HOST: '0.0.0.0', CALLER_KEYS: 'x' } })).toEqual([
      'CALLER_KEYS[0]: must be name:tier:key',
    ]);
  });
});
