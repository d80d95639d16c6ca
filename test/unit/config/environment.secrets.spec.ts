import { describe, expect, it } from '@jest/globals';
import { faultsOf, load } from './sources.js';

describe('secrets in files', () => {
  it('reads <NAME>_FILE and drops the line break at its end', () => {
    const environment = { OPENAI_API_KEY_FILE: '/run/key', REDIS_HOST: 'r', REDIS_PASSWORD_FILE: '/run/password' };
    const settings = load({
      environment,
      files: { '/run/key': 'sk-from-file\r\n', '/run/password': ' spaces stay \n' },
    });
    expect(settings.providers.find(({ name }) => name === 'openai')?.apiKeys).toEqual(['sk-from-file']);
    expect(settings.store).toMatchObject({ password: ' spaces stay ' });
  });

  it('reads CALLER_KEYS_FILE with a caller on each line', () => {
    const files = { '/run/callers': 'a:pro:0123456789abcdef\nb:free:fedcba9876543210\n' };
    expect(load({ environment: { CALLER_KEYS_FILE: '/run/callers' }, files }).callers.map(({ name }) => name)).toEqual([
      'a',
      'b',
    ]);
  });

  it.each([
    [
      { OPENAI_API_KEY: 'sk-direct', OPENAI_API_KEY_FILE: '/run/key' },
      'OPENAI_API_KEY_FILE: must not be set together with OPENAI_API_KEY',
    ],
    [{ OPENAI_API_KEY_FILE: '/run/none' }, 'OPENAI_API_KEY_FILE: cannot read /run/none: there is no such file'],
    [
      { OPENAI_API_KEY_FILE: '/run/empty' },
      'OPENAI_API_KEY_FILE: must name a file that holds the secret: /run/empty is empty',
    ],
    [{ REDIS_PASSWORD_FILE: '/run/none' }, 'REDIS_PASSWORD_FILE: cannot read /run/none: there is no such file'],
  ])('refuses %j', (environment, fault) => {
    expect(faultsOf({ environment, files: { '/run/key': 'sk-from-file', '/run/empty': '\n' } })).toEqual([fault]);
  });

  it('never repeats a secret in a fault', () => {
    const secret = 'S3CR3T';
    const environment = {
      REDIS_URL: `mysql://u:${secret}@h`,
      REDIS_PASSWORD: `${secret}\n${secret}`,
      REDIS_SENTINEL_PASSWORD: `${secret}\u0000`,
      OPENAI_API_KEY: `${secret} ${secret}`,
      VERTEX_CREDENTIALS: `{"private_key": "${secret}"`,
      CALLER_KEYS: `${secret},a:${secret}:b,${secret}:pro:é,a:pro:${secret}`,
    };
    const faults = faultsOf({ environment });
    expect(faults).toHaveLength(8);
    expect(faults.join('\n')).not.toContain(secret);
  });
});
