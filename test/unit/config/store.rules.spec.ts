import { describe, expect, it } from '@jest/globals';
import type { Environment, StoreSettings } from '../../../src/config/index.js';
import { faultsOf, load } from './sources.js';

const PRODUCTION = { NODE_ENV: 'production', UPSTREAM: 'simulator', CALLER_KEYS: 'app:pro:0123456789abcdef' };
const PEM = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const KEY = '-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n';

function storeOf(environment: Environment, files = {}): StoreSettings {
  return load({ environment, files }).store;
}

describe('the store without Redis', () => {
  it('is embedded, with a notice', () => {
    const { store, notices } = load();
    expect(store).toEqual({ kind: 'memory' });
    expect(notices.join('\n')).toMatch(/no Redis is configured: .* in this process/);
  });

  it('is a fault in production', () => {
    expect(faultsOf({ environment: PRODUCTION })).toEqual([
      expect.stringMatching(/^STORE: no Redis is configured: .*STORE=memory/),
    ]);
  });

  it('is embedded in production when STORE=memory says so, with a notice', () => {
    const { store, notices } = load({ environment: { ...PRODUCTION, STORE: 'memory' } });
    expect(store).toEqual({ kind: 'memory' });
    expect(notices.join('\n')).toContain('run one replica');
  });

  it('is a fault with STORE=redis', () => {
    expect(faultsOf({ environment: { STORE: 'redis' } })).toEqual([
      expect.stringMatching(/^STORE: is redis, but there is no address: set one of REDIS_URL/),
    ]);
  });

  it('says what was set in vain', () => {
    expect(load({ environment: { REDIS_PASSWORD: 'x' } }).notices.join('\n')).toContain(
      'REDIS_PASSWORD without an address',
    );
    expect(load({ environment: { STORE: 'memory', REDIS_HOST: 'r' } }).notices).toContain(
      'REDIS_HOST is ignored because STORE=memory',
    );
  });
});

describe('one Redis', () => {
  const rest = { db: 0, tls: false, keyPrefix: 'coordinator:' };

  it('is found by host, and by port where it is unusual', () => {
    expect(storeOf({ REDIS_HOST: 'r' })).toEqual({ kind: 'standalone', host: 'r', port: 6379, ...rest });
    expect(storeOf({ STORE: 'redis', REDIS_HOST: '10.0.0.1', REDIS_PORT: '7000', REDIS_KEY_PREFIX: 'blue.' })).toEqual({
      ...rest,
      kind: 'standalone',
      host: '10.0.0.1',
      port: 7000,
      keyPrefix: 'blue.',
    });
  });

  it.each([
    ['redis://r', { host: 'r', port: 6379 }],
    ['redis://r:7000/3', { host: 'r', port: 7000, db: 3 }],
    ['redis://:p%40ss%2Fword@r/', { host: 'r', password: 'p@ss/word' }],
    ['rediss://user:secret@[::1]:6380/0', { host: '::1', port: 6380, tls: true, username: 'user', password: 'secret' }],
  ])('is found by %s', (url, expected) => {
    expect(storeOf({ REDIS_URL: url })).toEqual({ kind: 'standalone', port: 6379, ...rest, ...expected });
  });

  it.each([
    'r:6379',
    'http://r',
    'redis://',
    'redis://r/x',
    'redis://r?db=1',
    'redis://:p#w@r',
    'redis://:%zz@r',
    'redis://r:99999',
  ])('refuses the URL %s', (url) => {
    expect(faultsOf({ environment: { REDIS_URL: url } })).toEqual([
      expect.stringMatching(/^REDIS_URL: must be redis\[s\]:\/\//),
    ]);
  });

  it('takes what stands beside the URL where the URL does not say it', () => {
    const environment = {
      REDIS_URL: 'redis://r',
      REDIS_USERNAME: 'u',
      REDIS_PASSWORD: 'p',
      REDIS_DB: '2',
      REDIS_TLS: 'yes',
    };
    expect(storeOf(environment)).toEqual({
      ...rest,
      kind: 'standalone',
      host: 'r',
      port: 6379,
      username: 'u',
      password: 'p',
      db: 2,
      tls: true,
    });
  });

  it('refuses variables that contradict the URL', () => {
    const environment = {
      REDIS_URL: 'rediss://u:p@r/1',
      REDIS_USERNAME: 'v',
      REDIS_PASSWORD: 'q',
      REDIS_DB: '2',
      REDIS_TLS: 'false',
    };
    expect(faultsOf({ environment })).toEqual(
      ['REDIS_USERNAME', 'REDIS_PASSWORD', 'REDIS_TLS', 'REDIS_DB'].map(
        (name) => `${name}: differs from what REDIS_URL says`,
      ),
    );
  });

  it('reads the CA', () => {
    const environment = { REDIS_HOST: 'r', REDIS_TLS: 'true', REDIS_TLS_CA_FILE: '/ca.pem' };
    expect(storeOf(environment, { '/ca.pem': PEM })).toMatchObject({ tls: true, tlsCa: PEM });
  });

  it('reads what it has to show', () => {
    const files = { REDIS_TLS_CERT_FILE: '/own.pem', REDIS_TLS_KEY_FILE: '/own.key' };
    const environment = { REDIS_HOST: 'r', REDIS_TLS: 'true', ...files };
    expect(storeOf(environment, { '/own.pem': PEM, '/own.key': KEY })).toMatchObject({ tlsCert: PEM, tlsKey: KEY });
  });

  it.each([
    [
      { REDIS_TLS: 'true', REDIS_TLS_CA_FILE: '/none.pem' },
      'REDIS_TLS_CA_FILE: cannot read /none.pem: there is no such file',
    ],
    [
      { REDIS_TLS: 'true', REDIS_TLS_CA_FILE: '/text' },
      'REDIS_TLS_CA_FILE: must name a PEM file with a certificate: /text has none',
    ],
    [{ REDIS_TLS_CA_FILE: '/ca.pem' }, 'REDIS_TLS_CA_FILE: needs REDIS_TLS=true or a rediss:// URL'],
    [{ REDIS_TLS: 'true', REDIS_TLS_CERT_FILE: '/ca.pem' }, 'REDIS_TLS_CERT_FILE: needs REDIS_TLS_KEY_FILE'],
    [
      { REDIS_TLS: 'true', REDIS_TLS_CERT_FILE: '/ca.pem', REDIS_TLS_KEY_FILE: '/ca.pem' },
      'REDIS_TLS_KEY_FILE: must name a PEM file with a private key: /ca.pem has none',
    ],
    [{ REDIS_KEY_PREFIX: 'a{b}' }, 'REDIS_KEY_PREFIX: must be at most 64 letters, digits and : . _ -'],
    [{ REDIS_DB: '1e3' }, 'REDIS_DB: must be a whole number from 0 to 999'],
  ])('refuses %j', (environment, fault) => {
    const files = { '/ca.pem': PEM, '/text': 'no certificate' };
    expect(faultsOf({ environment: { REDIS_HOST: 'r', ...environment }, files })).toEqual([fault]);
  });

  it('is not led astray by the service link that Kubernetes puts into REDIS_PORT', () => {
    const { store, notices } = load({ environment: { REDIS_HOST: 'redis', REDIS_PORT: 'tcp://10.96.0.7:6379' } });
    expect(store).toMatchObject({ host: 'redis', port: 6379 });
    expect(notices.join('\n')).toContain('REDIS_PORT is a service link');
  });
});

describe('several Redis nodes', () => {
  it('are sentinels with their master', () => {
    const environment = {
      REDIS_SENTINELS: 's1, s2:26380,[::1]:1',
      REDIS_SENTINEL_MASTER: 'mymaster',
      REDIS_SENTINEL_USERNAME: 'su',
      REDIS_SENTINEL_PASSWORD: 'sp',
      REDIS_PASSWORD: 'p',
      REDIS_DB: '4',
    };
    expect(storeOf(environment)).toEqual({
      kind: 'sentinel',
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 26_380 },
        { host: '::1', port: 1 },
      ],
      master: 'mymaster',
      sentinelUsername: 'su',
      sentinelPassword: 'sp',
      password: 'p',
      db: 4,
      tls: false,
      keyPrefix: 'coordinator:',
    });
  });

  it('are the nodes of a cluster', () => {
    expect(storeOf({ REDIS_CLUSTER_NODES: 'c1,c2:7001' })).toMatchObject({
      kind: 'cluster',
      nodes: [
        { host: 'c1', port: 6379 },
        { host: 'c2', port: 7001 },
      ],
    });
  });

  it.each([
    [
      { REDIS_SENTINELS: 's1' },
      'REDIS_SENTINEL_MASTER: must name the master group that REDIS_SENTINELS watch, such as mymaster',
    ],
    [{ REDIS_CLUSTER_NODES: 'c1', REDIS_DB: '1' }, 'REDIS_DB: must be 0 in a cluster, which has one database'],
    [
      { REDIS_CLUSTER_NODES: 'c1:x' },
      'REDIS_CLUSTER_NODES: must be host:port,host:port,… (IPv6 addresses in brackets)',
    ],
    [{ REDIS_CLUSTER_NODES: ',' }, 'REDIS_CLUSTER_NODES: must be host:port,host:port,…'],
    [
      { REDIS_URL: 'redis://r', REDIS_CLUSTER_NODES: 'c1' },
      'REDIS_CLUSTER_NODES: conflicts with REDIS_URL: set one of REDIS_URL, REDIS_HOST, REDIS_SENTINELS, REDIS_CLUSTER_NODES',
    ],
    [
      { REDIS_HOST: 'r', REDIS_SENTINELS: 's1' },
      'REDIS_SENTINELS: conflicts with REDIS_HOST: set one of REDIS_URL, REDIS_HOST, REDIS_SENTINELS, REDIS_CLUSTER_NODES',
    ],
  ])('refuse %j', (environment, fault) => {
    expect(faultsOf({ environment })).toEqual([fault]);
  });
});
