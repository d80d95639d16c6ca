import { describe, expect, it } from '@jest/globals';
import { ENVIRONMENT_TABLE } from '../../../src/config/index.js';

describe('ENVIRONMENT_TABLE', () => {
  it('names each variable once, with a description and a default that parses', () => {
    expect(new Set(ENVIRONMENT_TABLE.map(({ name }) => name)).size).toBe(ENVIRONMENT_TABLE.length);
    for (const { default: initial, description, parse } of ENVIRONMENT_TABLE) {
      expect(description).toMatch(/^\S.*\.$/);
      if (initial !== undefined) expect(() => parse(initial)).not.toThrow();
    }
  });

  it('marks everything that holds a secret', () => {
    const secrets = ENVIRONMENT_TABLE.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    const sensitive = ENVIRONMENT_TABLE.map(({ name }) => name).filter((name) =>
      /KEY(S)?$|PASSWORD|CREDENTIALS|REDIS_URL|HEADERS$/.test(name),
    );
    expect(secrets.sort()).toEqual(sensitive.sort());
  });

  it('covers every variable of the service that the contract names', () => {
    const names = new Set(ENVIRONMENT_TABLE.map(({ name }) => name));
    const contract = [
      'PORT',
      'HOST',
      'REDIS_URL',
      'REDIS_HOST',
      'REDIS_PORT',
      'REDIS_USERNAME',
      'REDIS_PASSWORD',
      'REDIS_DB',
      'REDIS_TLS',
      'REDIS_TLS_CA_FILE',
      'REDIS_SENTINELS',
      'REDIS_SENTINEL_MASTER',
      'REDIS_CLUSTER_NODES',
      'REDIS_KEY_PREFIX',
      'STORE',
      'CONFIG_FILE',
      'CALLER_KEYS',
      'UPSTREAM',
      'HOLYSHEEP_API_KEY',
      'CORS_ORIGINS',
      'TRUST_PROXY',
      'METRICS_PORT',
      'SHUTDOWN_GRACE_MS',
      'DRAIN_DELAY_MS',
      'EXPECTED_PODS',
      'REQUEST_DEADLINE_MS',
      'LOG_LEVEL',
      'BODY_LIMIT',
    ];
    expect(contract.filter((name) => !names.has(name))).toEqual([]);
  });
});
