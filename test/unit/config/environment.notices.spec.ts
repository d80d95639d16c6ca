import { describe, expect, it } from '@jest/globals';
import { load } from './sources.js';

describe('notices on the environment', () => {
  it.each([
    ['REDIS_HSOT', 'REDIS_HOST'],
    ['HOLYSHEEP_API_KE', 'HOLYSHEEP_API_KEY'],
    ['HOLYSHEEP_KEY', 'HOLYSHEEP_API_KEY'],
    ['CALLER_KEY', 'CALLER_KEYS'],
    ['redis_url', 'REDIS_URL'],
    ['REDIS_SENTINEL_MASTER_NAME', 'REDIS_SENTINEL_MASTER'],
    ['LOG_LEVL', 'LOG_LEVEL'],
  ])('takes %s for a slip of %s', (name, meant) => {
    expect(load({ environment: { [name]: 'x' } }).notices).toContain(
      `${name} is not a variable of this service and is ignored: did you mean ${meant}?`,
    );
  });

  it('leaves other variables alone', () => {
    const foreign = [
      'PATH',
      'HOSTNAME',
      'OPENAI_ORG_ID',
      'OPENAI_BASE_URL',
      'LOG_FILE',
      'NODE_OPTIONS',
      'REDIS_SERVICE_HOST',
      'REDIS_PORT_6379_TCP_ADDR',
      'REDIS_SENTINEL_SERVICE_PORT',
      '__proto__',
    ];
    const environment = Object.fromEntries(foreign.map((name) => [name, 'x']));
    expect(load({ environment }).notices).toEqual(load().notices);
  });

  it('says that rules of production need its exact name', () => {
    expect(load({ environment: { NODE_ENV: 'prod' } }).notices.join('\n')).toContain('NODE_ENV is not "production"');
  });
});
