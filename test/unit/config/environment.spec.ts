import { describe, expect, it } from '@jest/globals';
import { ENVIRONMENT_TABLE, type Environment } from '../../../src/config/index.js';
import { faultsOf, fileWith, load } from './sources.js';

const CALLERS = { CALLER_KEYS: 'app:pro:0123456789abcdef' };

describe('loadSettings() on the environment', () => {
  it('needs nothing and has the documented defaults', () => {
    const { server, expectedPods, isProduction } = load();
    expect(server).toEqual({
      host: '127.0.0.1',
      port: 8080,
      corsOrigins: [],
      trustProxy: false,
      bodyLimitBytes: 32 * 1024 * 1024,
      requestDeadlineMs: 120_000,
      shutdownGraceMs: 20_000,
      drainDelayMs: 0,
      logLevel: 'info',
      loopbackHostsOnly: true,
    });
    expect({ expectedPods, isProduction }).toEqual({ expectedPods: 1, isProduction: false });
  });

  it('refuses a drain delay that is longer than the grace it is a part of', () => {
    expect(faultsOf({ environment: { SHUTDOWN_GRACE_MS: '1000', DRAIN_DELAY_MS: '1001' } })).toEqual([
      'DRAIN_DELAY_MS: is a part of SHUTDOWN_GRACE_MS and must not be longer',
    ]);
  });

  it('takes every server variable', () => {
    const environment = {
      ...CALLERS,
      HOST: '0.0.0.0',
      PORT: '0',
      METRICS_PORT: '9090',
      CORS_ORIGINS: 'https://a.example, http://localhost:3000',
      TRUST_PROXY: '10.0.0.0/8,127.0.0.1',
      BODY_LIMIT: '1mb',
      REQUEST_DEADLINE_MS: '30s',
      SHUTDOWN_GRACE_MS: '6000',
      DRAIN_DELAY_MS: '5000',
      EXPECTED_PODS: '3',
      LOG_LEVEL: 'DEBUG',
    };
    const { server, expectedPods } = load({ environment });
    expect(server).toEqual({
      host: '0.0.0.0',
      port: 0,
      metricsPort: 9090,
      corsOrigins: ['https://a.example', 'http://localhost:3000'],
      trustProxy: ['10.0.0.0/8', '127.0.0.1'],
      bodyLimitBytes: 1_048_576,
      requestDeadlineMs: 30_000,
      shutdownGraceMs: 6_000,
      drainDelayMs: 5_000,
      logLevel: 'debug',
      loopbackHostsOnly: false,
    });
    expect(expectedPods).toBe(3);
  });

  it('takes blank values for missing ones, as container tools pass them', () => {
    const environment = Object.fromEntries(ENVIRONMENT_TABLE.map(({ name }) => [name, ' ']));
    expect(load({ environment })).toEqual(load());
  });

  it.each<[string, unknown]>([
    ['true', true],
    ['no', false],
    ['0', false],
    ['1', 1],
    ['2', 2],
    ['loopback', ['loopback']],
    ['::1', ['::1']],
  ])('reads TRUST_PROXY=%s', (text, expected) => {
    expect(load({ environment: { TRUST_PROXY: text } }).server.trustProxy).toEqual(expected);
  });

  it.each([
    ['PORT', '70000', 'PORT: must be a port number from 0 to 65535'],
    ['PORT', '80a', 'PORT: must be a port number from 0 to 65535'],
    ['METRICS_PORT', '8080', 'METRICS_PORT: must not be PORT: leave it out to serve /metrics there'],
    ['HOST', 'http://x', 'HOST: must be an IP address or a host name, without a port'],
    ['HOST', '1.2.3', 'HOST: must be an IP address or a host name, without a port'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL: must be one of fatal, error, warn, info, debug, trace, silent'],
    ['BODY_LIMIT', 'big', 'BODY_LIMIT: must be a size from 1kb to 1gb, such as 32mb, 512kb or a number of bytes'],
    ['REQUEST_DEADLINE_MS', '0', 'REQUEST_DEADLINE_MS: must be a duration from 1ms to 6h'],
    ['EXPECTED_PODS', '0', 'EXPECTED_PODS: must be a whole number from 1 to 10000'],
    [
      'TRUST_PROXY',
      '10.0.0.0/33',
      'TRUST_PROXY: must be true, false, a number of hops, or addresses and CIDR ranges such as 10.0.0.0/8,127.0.0.1',
    ],
    [
      'CORS_ORIGINS',
      'https://a.example,https://b.example/',
      'CORS_ORIGINS[1]: must be an origin such as https://app.example.com, without a path',
    ],
    ['CORS_ORIGINS', '*,https://a.example', 'CORS_ORIGINS: must be either * alone or a list of origins'],
    ['UPSTREAM', 'openai', 'UPSTREAM: must be one of simulator, providers'],
    ['STORE', 'mongo', 'STORE: must be one of memory, redis'],
    ['CONFIG_FILE', '/no/such.yaml', 'CONFIG_FILE: cannot read /no/such.yaml: there is no such file'],
  ])('refuses %s=%s', (name, value, fault) => {
    expect(faultsOf({ environment: { [name]: value } })).toEqual([fault]);
  });

  it('reports the faults of all variables and of the file at once', () => {
    const environment: Environment = {
      PORT: 'x',
      LOG_LEVEL: 'x',
      EXPECTED_PODS: '-1',
      REDIS_URL: 'x',
      CALLER_KEYS: 'x',
      UPSTREAM: 'x',
    };
    const files = { 'coordinator.yaml': 'providers: 3\nmodels: []\ntierz: {}\n' };
    const paths = faultsOf({ environment, files }).map((fault) => fault.slice(0, fault.indexOf(': ')));
    expect(new Set(paths)).toEqual(
      new Set([
        'PORT',
        'LOG_LEVEL',
        'EXPECTED_PODS',
        'REDIS_URL',
        'CALLER_KEYS[0]',
        'UPSTREAM',
        'providers',
        'models',
        'tierz',
        'tiers',
      ]),
    );
  });

  it('freezes everything it returns', () => {
    const settings = load({ environment: { ...CALLERS, REDIS_CLUSTER_NODES: 'a,b' } });
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    expect(isFrozen(settings)).toBe(true);
  });

  it('does not look into the prototype of what it is given', () => {
    const environment: Environment = Object.create({ PORT: '1' }) as Environment;
    expect(load({ environment }).server.port).toBe(8080);
  });
});

describe('CONFIG_FILE', () => {
  it('is coordinator.yaml of the working directory before the shipped one', () => {
    const yaml = JSON.stringify(fileWith());
    expect(load({ files: { 'coordinator.yaml': yaml } }).models.map(({ name }) => name)).toEqual(['m']);
    expect(load().models).toHaveLength(4);
  });

  it('is the file that is named before both', () => {
    const files = { '/etc/c.yaml': JSON.stringify(fileWith()), 'coordinator.yaml': 'nonsense' };
    expect(load({ environment: { CONFIG_FILE: '/etc/c.yaml' }, files }).models).toHaveLength(1);
  });
});
