import { describe, expect, it } from '@jest/globals';
import { secretsOf, type Environment } from '../../../src/config/index.js';
import { faultsOf, fileWith, load, loadFile, provider } from './sources.js';

const twoKeys = (changes: Record<string, unknown> = {}) =>
  fileWith({ providers: [provider({ keyVariable: ['P_KEY', 'P_KEY_2'], ...changes })] });

function faultsIn(content: Record<string, unknown>, environment: Environment = {}, files: Record<string, string> = {}) {
  return faultsOf({ environment, files: { 'coordinator.yaml': JSON.stringify(content), ...files } });
}

describe('several keys of one provider', () => {
  it('are kept in the order of their variables, each with its variable', () => {
    const [found] = loadFile(twoKeys(), { P_KEY_2: 'second', P_KEY: 'first' }).providers;
    expect(found).toMatchObject({
      keyVariables: ['P_KEY', 'P_KEY_2'],
      apiKeys: ['first', 'second'],
      apiKeyVariables: ['P_KEY', 'P_KEY_2'],
    });
  });

  it('may be set in part', () => {
    const [found] = loadFile(twoKeys(), { P_KEY: ' ', P_KEY_2: 'second' }).providers;
    expect(found).toMatchObject({ apiKeys: ['second'], apiKeyVariables: ['P_KEY_2'] });
  });

  it('come from files as well', () => {
    const files = { 'coordinator.yaml': JSON.stringify(twoKeys()), '/run/second': 'second\n' };
    const [found] = load({ environment: { P_KEY: 'first', P_KEY_2_FILE: '/run/second' }, files }).providers;
    expect(found?.apiKeys).toEqual(['first', 'second']);
  });

  it('are all kept out of what is shown', () => {
    expect(secretsOf(loadFile(twoKeys(), { P_KEY: 'first', P_KEY_2: 'second' }))).toEqual(['first', 'second']);
  });

  it('are known variables: none of them looks misspelt', () => {
    const environment = { P_KEY: 'a', P_KEY_2: 'b', P_KEY_2_FILE: '' };
    expect(loadFile(twoKeys(), environment).notices.filter((notice) => notice.includes('P_KEY'))).toEqual([]);
  });

  it('are named among those of which one is needed', () => {
    expect(loadFile(twoKeys()).notices.join('\n')).toContain('set one of P_KEY, P_KEY_2');
  });

  it.each<[string, unknown, readonly string[]]>([
    ['none', [], ['providers[0].keyVariable: must name at least one environment variable']],
    ['a number', 5, ['providers[0].keyVariable: must be text: put it in quotes']],
    ['a mapping', { name: 'P_KEY' }, ['providers[0].keyVariable: must not hold mappings or lists of lists']],
    [
      'names of another form',
      ['P_KEY', 'lower', '', 'P_KEY_FILE'],
      [
        'providers[0].keyVariable[1]: must be the name of an environment variable, such as OPENAI_API_KEY, not ending in _FILE',
        'providers[0].keyVariable[2]: must be text',
        'providers[0].keyVariable[3]: must be the name of an environment variable, such as OPENAI_API_KEY, not ending in _FILE',
      ],
    ],
    ['a gap', ['P_KEY', null], ['providers[0].keyVariable[1]: must not be empty']],
    [
      'one variable twice',
      ['P_KEY', 'P_KEY_2', 'P_KEY'],
      ['providers[0].keyVariable[2]: "P_KEY" is taken by providers[0].keyVariable[0]'],
    ],
    [
      "one of the service's own",
      ['P_KEY', 'REDIS_PASSWORD'],
      ['providers[0].keyVariable[1]: must not be REDIS_PASSWORD, which this service uses itself'],
    ],
  ])('refuse %s', (_case, keyVariable, faults) => {
    expect(faultsIn(twoKeys({ keyVariable }))).toEqual(faults);
  });

  it('refuse one key in two variables, without showing it', () => {
    expect(faultsIn(twoKeys(), { P_KEY: 'S3CR3T', P_KEY_2: 'S3CR3T' })).toEqual([
      'P_KEY_2: holds the same key as P_KEY',
    ]);
  });

  it('report what is wrong with each of them at once', () => {
    const files = { '/run/empty': '\n' };
    const environment = { P_KEY: 'two words', P_KEY_2_FILE: '/run/empty' };
    expect(faultsIn(twoKeys(), environment, files)).toEqual([
      'P_KEY: must be printable ASCII without spaces',
      'P_KEY_2_FILE: must name a file that holds the secret: /run/empty is empty',
    ]);
  });
});

describe('credentials for Vertex AI', () => {
  const account = { type: 'service_account', client_email: 'a@p.example', private_key: '-----BEGIN\nS3CR3T' };
  const keysOf = (credentials: string) =>
    load({ environment: { VERTEX_CREDENTIALS: credentials, VERTEX_PROJECT: 'p1' } }).providers.at(-1)?.apiKeys;

  it.each([
    ["a service account's key", JSON.stringify(account, undefined, 2)],
    ['a login of a person', '{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}'],
    ['a federated identity', '{"type":"external_account"}'],
    ['an access token', 'ya29.token'],
    ['what the machine has', 'adc'],
  ])('may be %s', (_case, credentials) => {
    expect(keysOf(credentials)).toEqual([credentials]);
  });

  it('may spell adc as they like', () => {
    expect(keysOf('ADC')).toEqual(['adc']);
  });

  it.each([
    ['{"type": "service_account", "private_key": "S3CR3T"', 'must be a token or complete JSON'],
    [
      JSON.stringify({ ...account, client_email: undefined }),
      'must be a complete credentials file: it lacks client_email',
    ],
    [
      '{"type":"authorized_user","client_id":"S3CR3T"}',
      'must be a complete credentials file: it lacks client_secret and refresh_token',
    ],
    [
      '{"installed":{"client_secret":"S3CR3T"}}',
      'must be a credentials file whose type is one of service_account, authorized_user, external_account, external_account_authorized_user, impersonated_service_account',
    ],
    ['two words', 'must be printable ASCII without spaces'],
  ])('are refused as %s', (credentials, fault) => {
    const environment = { VERTEX_CREDENTIALS: credentials, VERTEX_PROJECT: 'p1' };
    expect(faultsOf({ environment })).toEqual([`VERTEX_CREDENTIALS: ${fault}`]);
  });

  it('are secret in all their parts, but for the word adc', () => {
    const secrets = secretsOf(
      load({ environment: { VERTEX_CREDENTIALS: JSON.stringify(account), VERTEX_PROJECT: 'p1' } }),
    );
    expect(secrets).toEqual(
      expect.arrayContaining([account.private_key, JSON.stringify(account.private_key).slice(1, -1)]),
    );
    expect(secretsOf(load({ environment: { VERTEX_CREDENTIALS: 'adc', VERTEX_PROJECT: 'p1' } }))).toEqual([]);
  });

  it('are no credentials for other kinds', () => {
    expect(faultsOf({ environment: { OPENAI_API_KEY: JSON.stringify(account, undefined, 2) } })).toEqual([
      'OPENAI_API_KEY: must be printable ASCII without spaces',
    ]);
  });
});

describe("Azure's URLs", () => {
  const azure = (changes: Record<string, unknown> = {}) =>
    fileWith({ providers: [provider({ kind: 'azure', baseUrl: 'https://r.openai.azure.com', ...changes })] });
  const versionOf = (changes: Record<string, unknown>) =>
    loadFile(azure(changes), { P_KEY: 'k' }).providers[0]?.apiVersion;

  it('are those of the v1 API unless told otherwise', () => {
    expect(versionOf({})).toBeUndefined();
    expect(versionOf({ deploymentUrls: false })).toBeUndefined();
  });

  it('are the classic ones by deploymentUrls, with the last general version unless another one is named', () => {
    expect(versionOf({ deploymentUrls: true })).toBe('2024-10-21');
    expect(versionOf({ deploymentUrls: true, apiVersion: '2025-01-01-preview' })).toBe('2025-01-01-preview');
  });

  it.each([
    [{ apiVersion: '2024-10-21' }, 'apiVersion: needs deploymentUrls: true: the v1 API has no api-version'],
    [
      { deploymentUrls: true, apiVersion: 'latest' },
      'apiVersion: must be a version such as 2024-10-21 or 2025-01-01-preview',
    ],
    [{ deploymentUrls: 'yes' }, 'deploymentUrls: must be true or false (yes, no, on and off are text)'],
    [
      { deploymentUrls: true, baseUrl: 'https://r.openai.azure.com/openai/v1' },
      'baseUrl: must be the endpoint of the resource, without /openai, because deploymentUrls is true',
    ],
    [{ kind: 'openai', deploymentUrls: true }, 'deploymentUrls: is only for providers of kind azure, not openai'],
    [{ kind: 'openai', apiVersion: '2024-10-21' }, 'apiVersion: is only for providers of kind azure, not openai'],
    [{ deploymentUrl: true }, 'deploymentUrl: unknown key, did you mean deploymentUrls?'],
  ])('refuse %j', (changes, fault) => {
    expect(faultsIn(azure(changes), { P_KEY: 'k' })).toEqual([`providers[0].${fault}`]);
  });
});
