import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisStore, StoreConfigurationError, type RedisStoreOptions } from '../../../src/store/index.js';

/** Nobody listens there: a fault must be found before anybody connects. */
const SINGLE = { kind: 'standalone', host: '127.0.0.1', port: 9, db: 0, tls: false, keyPrefix: 't:' };
const SENTINEL = { ...SINGLE, kind: 'sentinel', sentinels: [{ host: '127.0.0.1', port: 9 }], master: 'm' };
const CLUSTER = { ...SINGLE, kind: 'cluster', nodes: [{ host: '127.0.0.1', port: 9 }] };
const given = (options: unknown): RedisStoreOptions => options as RedisStoreOptions;

describe('new RedisStore()', () => {
  it.each([
    ['kind', { ...SINGLE, kind: 'other' }],
    ['host', { ...SINGLE, host: '' }],
    ['host', { ...SINGLE, host: undefined }],
    ['port', { ...SINGLE, port: 65_536 }],
    ['port', { ...SINGLE, port: '6379' }],
    ['db', { ...SINGLE, db: Number.NaN }],
    ['db', { ...SINGLE, db: -1 }],
    ['db', { ...SINGLE, db: 1.5 }],
    ['db', { ...SINGLE, db: '3' }],
    ['db', { ...CLUSTER, db: 1 }],
    ['tls', { ...SINGLE, tls: 'yes' }],
    ['tlsCa', { ...SINGLE, tlsCa: 5 }],
    ['username', { ...SINGLE, username: null }],
    ['password', { ...SINGLE, password: 12_345 }],
    ['keyPrefix', { ...SINGLE, keyPrefix: undefined }],
    ['key prefix', { ...SINGLE, keyPrefix: 'a{b}' }],
    ['sentinels', { ...SENTINEL, sentinels: [] }],
    ['sentinels', { ...SENTINEL, sentinels: [{ host: 'a' }] }],
    ['master', { ...SENTINEL, master: '' }],
    ['sentinelPassword', { ...SENTINEL, sentinelPassword: false }],
    ['nodes', { ...CLUSTER, nodes: 'localhost:7000' }],
    ['client', { kind: 'client', client: null, keyPrefix: '' }],
    ['commandTimeoutMs', { ...SINGLE, commandTimeoutMs: Number.NaN }],
    ['commandTimeoutMs', { ...SINGLE, commandTimeoutMs: Infinity }],
    ['commandTimeoutMs', { ...SINGLE, commandTimeoutMs: 1 }],
    ['heartbeatMs', { ...SINGLE, heartbeatMs: 0 }],
    ['heartbeatMs', { ...SINGLE, heartbeatMs: '1000' }],
    ['policy', { ...SINGLE, policy: 'x' }],
    ['connectionName', { ...SINGLE, connectionName: 'with space' }],
    ['notify', { ...SINGLE, notify: 5 }],
    ['options', null],
  ])('says which option is no good: %s', (option, options) => {
    let fault: unknown;
    try {
      new RedisStore(given(options));
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(StoreConfigurationError);
    expect(fault).toHaveProperty('reason', 'wrong_options');
    expect(fault).toHaveProperty('message', expect.stringContaining(option));
    expect(fault).not.toHaveProperty('message', expect.stringContaining('12345'));
  });

  it('takes what is good, and a client', async () => {
    const client = new Redis({ port: 9, lazyConnect: true });
    const full = { username: 'u', password: '', connectionName: 'name', policy: 'degrade', notify: () => undefined };
    for (const options of [{ ...SINGLE, ...full }, SENTINEL, CLUSTER, { kind: 'client', client, keyPrefix: '' }]) {
      await new RedisStore(given(options)).close();
    }
    client.disconnect();
  });
});
