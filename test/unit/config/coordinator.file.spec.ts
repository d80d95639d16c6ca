import { describe, expect, it } from '@jest/globals';
import { faultsOfFile, fileWith, loadFile, model } from './sources.js';

describe('coordinator.yaml, the smallest', () => {
  it('gets its defaults', () => {
    expect(loadFile(fileWith()).models).toEqual([
      {
        name: 'm',
        aliases: [],
        created: 0,
        ownedBy: 'p',
        contextWindow: 1_000,
        maxOutputTokens: 100,
        separateInputLimit: false,
        supportsTemperature: true,
        tokenizer: { encoding: 'o200k', ratio: 1 },
        limits: {},
        timeouts: { connectMs: 3_000, firstTokenMs: 20_000, idleMs: 30_000 },
        slotLeaseMs: 60_000,
        busyWaitMs: 0,
        expectedOutputTokens: 1_024,
        cacheTtlMs: 300_000,
        fallbacks: [],
        prefer: 'listed',
        deployments: [{ provider: 'p', model: 'm-1', limits: {} }],
        simulated: { firstTokenMs: 500, tokensPerSecond: 80 },
      },
    ]);
  });

  it('takes empty keys for missing ones', () => {
    expect(
      loadFile(fileWith({ callers: null, models: [model({ limits: null, prices: undefined, aliases: null })] })),
    ).toEqual(loadFile(fileWith()));
  });

  it('understands anchors, merge keys, comments and keys of its author', () => {
    const { models } = loadFile(`
x-usual: &usual { contextWindow: 1000, maxOutputTokens: 100, timeouts: { idleMs: 1m } } # mine
providers: [{ name: p, kind: openai, baseUrl: https://p.example, keyVariable: P }]
models:
  - { <<: *usual, name: a, deployments: &d [{ provider: p, model: x, prices: { input: 1, output: 2 } }] }
  - { <<: *usual, name: b, deployments: *d, contextWindow: 2000 }
tiers: { free: [a], pro: [a], enterprise: [a, b] }
`);
    expect(
      models.map(({ contextWindow, timeouts, deployments }) => [
        contextWindow,
        timeouts.idleMs,
        deployments[0]?.prices,
      ]),
    ).toEqual([
      [1_000, 60_000, { input: 1, cachedInput: 1, output: 2 }],
      [2_000, 60_000, { input: 1, cachedInput: 1, output: 2 }],
    ]);
  });

  it('takes the price of input for what has no price of its own, and leaves writes to a cache without one', () => {
    const deployments = [
      {
        provider: 'p',
        model: 'x',
        prices: { input: 3, cachedInput: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, output: 15 },
      },
      { provider: 'p', model: 'y', prices: { input: 3, output: 15 } },
    ];
    expect(
      loadFile(fileWith({ models: [model({ deployments })] })).models[0]?.deployments.map(({ prices }) => prices),
    ).toEqual([
      { input: 3, cachedInput: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, output: 15 },
      { input: 3, cachedInput: 3, output: 15 },
    ]);
  });

  it('understands dates with and without quotes, with a tag, and as seconds', () => {
    const created = (value: string) =>
      loadFile(JSON.stringify(fileWith({ models: [model({ created: 'HERE' })] })).replace('"HERE"', value)).models[0]
        ?.created;
    expect(['2025-04-14', '"2025-04-14"', '!!timestamp 2025-04-14', '1744588800'].map(created)).toEqual(
      Array(4).fill(1_744_588_800),
    );
  });
});

describe('faults of coordinator.yaml', () => {
  it.each<[string, unknown, string]>([
    ['rpm', { limits: { rpm: -1 } }, 'models[0].limits.rpm: must be a positive number'],
    ['rpm 0', { limits: { rpm: 0 } }, 'models[0].limits.rpm: must be a positive number'],
    ['rpm as text', { limits: { rpm: 'many' } }, 'models[0].limits.rpm: must be a positive number'],
    ['rpm in quotes', { limits: { rpm: '500' } }, 'models[0].limits.rpm: must be a positive number, without quotes'],
    ['rpm not whole', { limits: { rpm: 1.5 } }, 'models[0].limits.rpm: must be a whole number'],
    ['rpm infinite', { limits: { rpm: Infinity } }, 'models[0].limits.rpm: must be a positive number'],
    ['rpm NaN', { limits: { rpm: NaN } }, 'models[0].limits.rpm: must be a positive number'],
    ['tpm huge', { limits: { tpm: 1e300 } }, 'models[0].limits.tpm: must be at most 2147483647'],
    ['limits as a list', { limits: [{ rpm: 1 }] }, 'models[0].limits: must be a mapping'],
    ['limits as a number', { limits: 5 }, 'models[0].limits: must be a mapping'],
    [
      'a limit for another model',
      { limits: { 'gpt-9': 5 } },
      'models[0].limits.gpt-9: unknown key; known are rpm, tpm, concurrency, windows, tokenRule, whenStoreDown, slots',
    ],
    ['a misspelt limit', { limits: { rmp: 5 } }, 'models[0].limits.rmp: unknown key, did you mean rpm?'],
    ['a misspelt key', { fallback: ['m'] }, 'models[0].fallback: unknown key, did you mean fallbacks?'],
    ['another case', { ContextWindow: 5 }, 'models[0].ContextWindow: unknown key, did you mean contextWindow?'],
    ['a key with spaces', { 'max output': 5 }, 'models[0]["max output"]: unknown key, did you mean maxOutputTokens?'],
    ['name as a number', { name: 4.1 }, 'models[0].name: must be text: put it in quotes'],
    ['name with a space', { name: 'gpt 4' }, 'models[0].name: must be a name of letters, digits and . _ - : / @'],
    [
      'name with a line break',
      { name: 'gpt\n4' },
      'models[0].name: must be text on one line of at most 256 characters',
    ],
    ['name as a mapping', { name: { a: 1 } }, 'models[0].name: must not hold mappings or lists of lists'],
    ['aliases as text', { aliases: 'x' }, 'models[0].aliases: must be a list'],
    ['an alias as a number', { aliases: ['x', 4.1] }, 'models[0].aliases[1]: must be text: put it in quotes'],
    ['an empty alias', { aliases: [null] }, 'models[0].aliases[0]: must not be empty'],
    [
      'yes',
      { separateInputLimit: 'yes' },
      'models[0].separateInputLimit: must be true or false (yes, no, on and off are text)',
    ],
    ['a switch as a number', { separateInputLimit: 1 }, 'models[0].separateInputLimit: must be true or false'],
    [
      'a duration with a space',
      { slotLeaseMs: '20 sec' },
      'models[0].slotLeaseMs: must be a duration such as 20s, 300ms, 2m, 1h, 1d, or a whole number of milliseconds',
    ],
    ['a lease too long', { slotLeaseMs: '2h' }, 'models[0].slotLeaseMs: must be a duration from 1s to 1h'],
    [
      'a timeout of 0',
      { timeouts: { firstTokenMs: 0 } },
      'models[0].timeouts.firstTokenMs: must be a duration from 1ms to 1h',
    ],
    ['no deployments', { deployments: [] }, 'models[0].deployments: must have at least one entry'],
    ['deployments as a mapping', { deployments: {} }, 'models[0].deployments: must be a list'],
    ['a deployment as text', { deployments: ['p'] }, 'models[0].deployments[0]: must be a mapping'],
    [
      'an unknown provider',
      { deployments: [{ provider: 'q', model: 'x' }] },
      'models[0].deployments[0].provider: there is no provider "q", did you mean p?',
    ],
    [
      'a negative price',
      { deployments: [{ provider: 'p', model: 'x', prices: { input: -1, output: 1 } }] },
      'models[0].deployments[0].prices.input: must be 0 or a positive number',
    ],
    [
      'half a price',
      { deployments: [{ provider: 'p', model: 'x', prices: { input: 1 } }] },
      'models[0].deployments[0].prices.output: is required',
    ],
    [
      '30 February',
      { deployments: [{ provider: 'p', model: 'x', shutdownDate: '2027-02-30' }] },
      'models[0].deployments[0].shutdownDate: must be a date such as 2027-01-14 or 2027-01-14T09:00:00Z',
    ],
    [
      'one deployment twice',
      {
        deployments: [
          { provider: 'p', model: 'x' },
          { provider: 'p', model: 'x' },
        ],
      },
      'models[0].deployments[1]: the same model of the same provider stands above already',
    ],
    ['its own fallback', { fallbacks: ['m'] }, 'models[0].fallbacks[0]: a model cannot be its own fallback'],
    ['an unknown fallback', { fallbacks: ['nn'] }, 'models[0].fallbacks[0]: there is no model "nn", did you mean m?'],
    ['its name as an alias', { aliases: ['m'] }, 'models[0].aliases[0]: "m" is taken by models[0].name'],
    [
      'output beyond the window',
      { maxOutputTokens: 1001 },
      'models[0].maxOutputTokens: must be at most contextWindow, which holds input and output together',
    ],
    [
      'an unknown tokenizer',
      { tokenizer: { encoding: 'cl100k' } },
      'models[0].tokenizer.encoding: must be one of o200k, claude, bytes',
    ],
    [
      '__proto__',
      JSON.parse('{"__proto__": {"polluted": true}}'),
      'models[0].__proto__: unknown key; known are name, aliases, created, ownedBy, contextWindow, maxOutputTokens, separateInputLimit, supportsTemperature, tokenizer, limits, timeouts, slotLeaseMs, busyWaitMs, expectedOutputTokens, cacheTtlMs, fallbacks, prefer, deployments, simulated',
    ],
  ])('in a model: %s', (_case, changes, fault) => {
    expect(
      faultsOfFile(fileWith({ models: [Object.defineProperties(model(), Object.getOwnPropertyDescriptors(changes))] })),
    ).toEqual([fault]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});
