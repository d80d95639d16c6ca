import { describe, expect, it } from '@jest/globals';
import type { Environment } from '../../../src/config/index.js';
import { faultsOf, fileWith, load, loadFile, model, provider } from './sources.js';

const PRODUCTION = { NODE_ENV: 'production', STORE: 'memory', CALLER_KEYS: 'app:pro:0123456789abcdef' };

describe('the upstream', () => {
  it('is the simulator without a provider key, with a notice', () => {
    const { upstream, notices } = load();
    expect(upstream).toBe('simulator');
    expect(notices.join('\n')).toMatch(/no provider has a key: every answer is made up .* HOLYSHEEP_API_KEY/);
  });

  it('is a fault in production without a provider key', () => {
    expect(faultsOf({ environment: PRODUCTION })).toEqual([
      expect.stringMatching(/^UPSTREAM: no provider has a key: set one of HOLYSHEEP_API_KEY,.*UPSTREAM=simulator/),
    ]);
  });

  it('is the simulator in production when UPSTREAM=simulator says so, with a notice', () => {
    const { upstream, notices } = load({ environment: { ...PRODUCTION, UPSTREAM: 'simulator' } });
    expect(upstream).toBe('simulator');
    expect(notices.join('\n')).toContain('UPSTREAM=simulator: every answer is made up');
  });

  it('is the providers as soon as one has a key', () => {
    const { upstream, providers } = load({ environment: { ...PRODUCTION, HOLYSHEEP_API_KEY: ' hs-key ' } });
    expect(upstream).toBe('providers');
    expect(providers.filter(({ apiKeys }) => apiKeys.length > 0)).toEqual([
      expect.objectContaining({ name: 'holysheep', apiKeys: ['hs-key'], apiKeyVariables: ['HOLYSHEEP_API_KEY'] }),
    ]);
  });

  it.each<[string, Environment]>([
    ['openai', { OPENAI_API_KEY: 'k' }],
    ['anthropic', { ANTHROPIC_API_KEY: 'k' }],
    ['azure', { AZURE_OPENAI_API_KEY: 'k', AZURE_OPENAI_ENDPOINT: 'https://r.openai.azure.com' }],
    ['vertex', { VERTEX_CREDENTIALS: 'adc', VERTEX_PROJECT: 'p1' }],
  ])('is a provider of kind %s as well', (_kind, environment) => {
    const { upstream, notices } = load({ environment: { ...PRODUCTION, ...environment } });
    expect(upstream).toBe('providers');
    expect(notices.join('\n')).not.toMatch(/not called|made up/);
  });

  it('stays the simulator beside a key when asked for', () => {
    expect(load({ environment: { HOLYSHEEP_API_KEY: 'k', UPSTREAM: 'simulator' } }).upstream).toBe('simulator');
  });

  it('is a fault with UPSTREAM=providers and no key', () => {
    expect(faultsOf({ environment: { UPSTREAM: 'providers' } })).toEqual([
      expect.stringMatching(
        /^UPSTREAM: is providers, but none has a key: set one of HOLYSHEEP_API_KEY, .*, VERTEX_CREDENTIALS$/,
      ),
    ]);
  });
});

describe('base URLs', () => {
  function baseUrlOf(baseUrl: string, environment: Environment): string | undefined {
    return loadFile(fileWith({ providers: [provider({ baseUrl })] }), environment).providers[0]?.baseUrl;
  }
  function faults(changes: Record<string, unknown>, environment: Environment = { P_KEY: 'k' }): readonly string[] {
    return faultsOf({
      environment,
      files: { 'coordinator.yaml': JSON.stringify(fileWith({ providers: [provider(changes)] })) },
    });
  }

  it.each([
    ['https://p.example/v1/', {}, 'https://p.example/v1'],
    ['http://127.0.0.1:8000', {}, 'http://127.0.0.1:8000'],
    ['${P_ENDPOINT}/openai/v1', { P_ENDPOINT: 'https://r.openai.azure.com/' }, 'https://r.openai.azure.com/openai/v1'],
    ['https://${P_HOST:-usual.example}/v1', {}, 'https://usual.example/v1'],
    ['https://${P_HOST:-usual.example}/v1', { P_HOST: 'other.example' }, 'https://other.example/v1'],
    ['${P_BASE:-https://usual.example/v1}', {}, 'https://usual.example/v1'],
  ])('resolve %s with %j', (template, environment, expected) => {
    expect(baseUrlOf(template, { P_KEY: 'k', ...environment })).toBe(expected);
  });

  it('need their variables only where the provider has its key', () => {
    const baseUrl = 'https://${P_RESOURCE}.example/${P_PROJECT}';
    expect(baseUrlOf(baseUrl, {})).toBe(baseUrl);
    expect(faults({ baseUrl })).toEqual(['providers[0].baseUrl: needs P_RESOURCE and P_PROJECT, because P_KEY is set']);
  });

  it.each([
    [{ baseUrl: 'p.example/v1' }, 'providers[0].baseUrl: must be an http or https URL'],
    [{ baseUrl: 'ftp://p.example' }, 'providers[0].baseUrl: must be an http or https URL'],
    [
      { baseUrl: 'http://0xa9fea9fe/v1' },
      'providers[0].baseUrl: must not be 169.254.169.254: no provider has a link-local, metadata or reserved address',
    ],
    [
      { baseUrl: 'https://u:p@p.example' },
      'providers[0].baseUrl: must hold no user and password: the key comes from keyVariable',
    ],
    [{ baseUrl: 'https://p.example/?key=1' }, 'providers[0].baseUrl: must end with its path, without ? and #'],
    [{ baseUrl: 'https://p.example/${P_KEY}' }, 'providers[0].baseUrl: must not contain P_KEY: URLs are shown in logs'],
    [
      { keyVariable: 'REDIS_PASSWORD' },
      'providers[0].keyVariable: must not be REDIS_PASSWORD, which this service uses itself',
    ],
    [
      { keyVariable: 'P_KEY_FILE' },
      'providers[0].keyVariable: must be the name of an environment variable, such as OPENAI_API_KEY, not ending in _FILE',
    ],
  ])('refuse %j', (changes, fault) => {
    expect(faults(changes)).toEqual([fault]);
  });

  it('say which variable spoils them', () => {
    expect(faults({ baseUrl: '${P_BASE}/v1' }, { P_KEY: 'k', P_BASE: 'nowhere' })).toEqual([
      'providers[0].baseUrl: must be an http or https URL, also with the value of P_BASE',
    ]);
  });
});

describe('deployments that end', () => {
  const ending = (shutdownDate: string) =>
    fileWith({ models: [model({ deployments: [{ provider: 'p', model: 'm-1', shutdownDate, successor: 'm-2' }] })] });
  const noticesOf = (shutdownDate: string, environment: Environment = { P_KEY: 'k' }) =>
    loadFile(ending(shutdownDate), environment).notices.filter(
      (notice) => notice.startsWith('m at') || notice.includes('of m '),
    );

  it('are no topic more than 60 days before', () => {
    expect(noticesOf('2027-01-29')).toEqual([]);
  });

  it('are announced from 60 days before', () => {
    expect(noticesOf('2027-01-28')).toEqual([
      'm at p will be shut down on 2027-01-28, in 60 days; its successor is m-2',
    ]);
    expect(noticesOf('2026-11-29T12:00Z')).toEqual([
      'm at p will be shut down on 2026-11-29, in 1 day; its successor is m-2',
    ]);
  });

  it('are left out once they have ended, which is no fault', () => {
    expect(noticesOf('2026-11-29')).toEqual([
      'm at p was shut down on 2026-11-29 and is left out; its successor is m-2',
      'no live deployment of m is left: calls are answered 410 model_retired',
    ]);
  });

  it('are no topic where the provider has no key', () => {
    expect(noticesOf('2026-11-29', {})).toEqual([]);
  });

  it('are kept with their date, so that a running process can see it pass', () => {
    expect(loadFile(ending('2026-01-01'), { P_KEY: 'k' }).models[0]?.deployments).toEqual([
      { provider: 'p', model: 'm-1', limits: {}, shutdownAt: Date.parse('2026-01-01T00:00:00Z'), successor: 'm-2' },
    ]);
  });

  it('leave a word about models that no provider with a key serves', () => {
    expect(load({ environment: { OPENAI_API_KEY: 'k' } }).notices).toContain(
      'no provider with a key serves deepseek-v3.2',
    );
  });
});
