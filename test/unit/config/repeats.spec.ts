import { describe, expect, it } from '@jest/globals';
import { faultsOfFile, fileWith, loadFile, model, provider } from './sources.js';

const ALL = ['m', 'n', 'o'];
const tiers = { free: ALL, pro: ALL, enterprise: ALL };
const file = (changes: object = {}): Record<string, unknown> =>
  fileWith({ models: ALL.map((name) => model({ name })), tiers, ...changes });

describe('a name in a list of coordinator.yaml', () => {
  it('may stand in many lists, and fallbacks may go round', () => {
    const models = [model({ fallbacks: ['n', 'o'] }), model({ name: 'n', fallbacks: ['m'] }), model({ name: 'o' })];
    expect(loadFile(file({ models })).models.map(({ fallbacks }) => fallbacks)).toEqual([['n', 'o'], ['m'], []]);
  });

  it('is told with its place where it stands in one list twice', () => {
    const models = [
      model({ fallbacks: ['n', 'o', 'n', 'm'] }),
      model({ name: 'n' }),
      model({ name: 'o', fallbacks: ['o', 'o'] }),
    ];
    expect(faultsOfFile(file({ models, tiers: { ...tiers, pro: ['m', 'n', 'm'] } }))).toEqual([
      'tiers.pro[2]: "m" is named already by tiers.pro[0]',
      'models[0].fallbacks[2]: "n" is named already by models[0].fallbacks[0]',
      'models[0].fallbacks[3]: a model cannot be its own fallback',
      'models[2].fallbacks[1]: "o" is named already by models[2].fallbacks[0]',
      'models[2].fallbacks[0]: a model cannot be its own fallback',
    ]);
  });
});

describe('usagePath of a provider', () => {
  it.each(['/usage', '/v1/usage', '/key-info/v1.0', '/usage.json', '/usage/', '/..usage', '/a...b'])(
    'may be %s',
    (usagePath) => {
      expect(loadFile(file({ providers: [provider({ usagePath })] })).providers[0]?.usagePath).toBe(usagePath);
    },
  );

  it.each([
    '/../..',
    '/..',
    '/.',
    '/./usage',
    '/v1/../admin',
    '/v1/..',
    '//other.example/usage',
    '/usage//all',
    '/',
    'usage',
    '/usage?all=1',
    '/usage#top',
    '\\\\usage',
    '/v1\\..\\admin',
    '/%2e%2e/admin',
    '/us age',
    '@other.example/usage',
  ])('is no other place than below baseUrl: not %s', (usagePath) => {
    expect(faultsOfFile(file({ providers: [provider({ usagePath })] }))).toEqual([
      'providers[0].usagePath: must be a path such as /usage, without . and .. in it',
    ]);
  });
});
