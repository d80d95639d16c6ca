import { describe, expect, it } from '@jest/globals';
import { caller, faultsOfFile, fileWith, model, provider } from './sources.js';

describe('faults of coordinator.yaml', () => {
  it.each<[string, unknown, readonly string[]]>([
    ['nothing', '', ['coordinator.yaml: is empty']],
    ['only comments', '# later\n', ['coordinator.yaml: is empty']],
    ['a list', '[]', ['coordinator.yaml: must be a mapping with providers, models and tiers']],
    ['a word', 'word', ['coordinator.yaml: must be a mapping with providers, models and tiers']],
    ['an empty mapping', {}, ['providers: is required', 'models: is required', 'tiers: is required']],
    ['a section misspelt', fileWith({ caller: [] }), ['caller: unknown key, did you mean callers?']],
    [
      'two providers of one name',
      fileWith({ providers: [provider(), provider()] }),
      ['providers[1].name: "p" is taken by providers[0].name'],
    ],
    [
      'an unknown kind',
      fileWith({ providers: [provider({ kind: 'bedrock' })] }),
      ['providers[0].kind: must be one of openai, azure, anthropic, vertex'],
    ],
    [
      'a key in the file',
      fileWith({ providers: [provider({ apiKey: 'S3CR3T' })] }),
      [
        'providers[0].apiKey: unknown key; known are name, kind, baseUrl, keyVariable, usagePath, deploymentUrls, apiVersion, contextErrorPatterns, allowPrivate',
      ],
    ],
    [
      'an alias taken',
      fileWith({ models: [model(), model({ name: 'n', aliases: ['m'] })] }),
      ['models[1].aliases[0]: "m" is taken by models[0].name'],
    ],
    ['a tier missing', fileWith({ tiers: { free: [], pro: [] } }), ['tiers.enterprise: is required']],
    [
      'a tier too many',
      fileWith({ tiers: { free: [], pro: [], enterprise: [], gold: [] } }),
      ['tiers.gold: unknown key; known are free, pro, enterprise'],
    ],
    [
      'an unknown model in a tier',
      fileWith({ tiers: { free: ['unrelated'], pro: [], enterprise: [] } }),
      ['tiers.free[0]: there is no model "unrelated"; known are m'],
    ],
    [
      'an alias in a tier',
      fileWith({ models: [model({ aliases: ['mm'] })], tiers: { free: ['mm'], pro: [], enterprise: [] } }),
      ['tiers.free[0]: "mm" is an alias: write the model\'s name'],
    ],
    [
      'a caller called anonymous',
      fileWith({ callers: [caller({ name: 'anonymous' })] }),
      ['callers[0].name: must be up to 64 letters, digits and . _ @ -, other than anonymous'],
    ],
    [
      'a key instead of its hash',
      fileWith({ callers: [caller({ keySha256: 'sk-S3CR3T' })] }),
      ['callers[0].keySha256: must be the SHA-256 of the key: 64 hex digits, in quotes'],
    ],
    [
      'an unknown scope',
      fileWith({ callers: [caller({ scopes: ['root'] })] }),
      ['callers[0].scopes[0]: must be one of chat, admin'],
    ],
    [
      'an unknown tier',
      fileWith({ callers: [caller({ tier: 'gold' })] }),
      ['callers[0].tier: must be one of free, pro, enterprise'],
    ],
    [
      'a limit for an unknown model (row 35)',
      fileWith({ callers: [caller({ limits: { 'gpt-9': { rpm: 1 } } })] }),
      [
        'callers[0].limits.gpt-9: unknown key; known are rpm, tpm, concurrency, windows, tokenRule, whenStoreDown, slots',
      ],
    ],
  ])('in the whole: %s', (_case, content, faults) => {
    expect(faultsOfFile(content)).toEqual(faults);
    expect(faultsOfFile(content).join()).not.toContain('S3CR3T');
  });

  it('are reported all at once, each with its path', () => {
    const faults = faultsOfFile(`
providers:
  - { name: p, kind: openai, baseUrl: nowhere, keyVariable: P_KEY }
  - { name: p, kind: openai, baseURL: https://p.example, keyVariable: lower }
models:
  - { name: m, contextWindow: 0, maxOutputTokens: 10, deployments: [{ provider: q, model: x }] }
  - { name: n, alias: [m], contextWindow: 10, maxOutputTokens: 1_000, deployments: [] }
  - { name: o, contextWindow: 10, maxOutputTokens: 5, limits: { rpm: -5 }, timeouts: { idle: 3s }, fallbacks: [z], deployments: [{ provider: p }] }
tiers: { free: [m, zz], pro: m }
callers:
  - { name: "", keySha256: abc, tier: gold, weight: .nan }
`);
    expect(faults.map((fault) => fault.slice(0, fault.indexOf(': '))).sort()).toEqual(
      [
        'providers[1].name',
        'providers[1].baseURL',
        'providers[1].baseUrl',
        'providers[1].keyVariable',
        'models[0].contextWindow',
        'models[0].deployments[0].provider',
        'models[1].alias',
        'models[1].maxOutputTokens',
        'models[1].deployments',
        'models[2].limits.rpm',
        'models[2].timeouts.idle',
        'models[2].fallbacks[0]',
        'models[2].deployments[0].model',
        'tiers.free[1]',
        'tiers.pro',
        'tiers.enterprise',
        'callers[0].name',
        'callers[0].keySha256',
        'callers[0].tier',
        'callers[0].weight',
      ].sort(),
    );
  });
});
