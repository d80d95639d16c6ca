import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { ConfigurationError, ENVIRONMENT_TABLE } from '../../../src/config/index.js';
import { sized } from '../../support/proof-scale.js';
import { fileWith, load, model, provider } from './sources.js';

const numRuns = sized(100, 10_000);

/** The faults, or none when it loads; any other error ends the test. */
function faultsOrNone(text: string, environment: Record<string, string> = {}): readonly string[] {
  try {
    load({ environment, files: { 'coordinator.yaml': text } });
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
}

/** The characters that YAML reads something into. */
const SYNTAX = Array.from('{}[]:-&*!|>?\'"#%@, \nab<1');
const keys = [
  'name',
  'limits',
  'rpm',
  'deployments',
  'provider',
  'model',
  'prices',
  'timeouts',
  'firstTokenMs',
  'aliases',
  'shutdownDate',
  'baseUrl',
  '__proto__',
  'constructor',
  '<<',
];
const scalar = fc.oneof(
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('20s', '2027-01-14', 'm', 'p', '${X}', '010', '.nan'),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), tie('tree'), { maxKeys: 5 }),
  ),
}));

describe('loadSettings() on anything', () => {
  it('loads or throws a ConfigurationError with one line a fault, whatever the file holds', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('providers', 'models', 'tiers', 'callers', 'x-mine', 'other'), tree),
        (content) => {
          for (const fault of faultsOrNone(stringify(content))) expect(fault).toMatch(/^[^\n]+: [^\n]+$/);
        },
      ),
      { numRuns },
    );
  });

  it('does so for any value in any place of a good file', () => {
    const places: readonly ((value: unknown, key: string) => Record<string, unknown>)[] = [
      (value, key) => fileWith({ [key]: value }),
      (value, key) => fileWith({ models: [model({ [key]: value })] }),
      (value, key) => fileWith({ providers: [provider({ [key]: value })] }),
      (value, key) => fileWith({ models: [model({ deployments: [{ provider: 'p', model: 'x', [key]: value }] })] }),
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.constantFrom(...keys), tree, (place, key, value) => {
        faultsOrNone(stringify(place(value, key)), { P_KEY: 'k' });
      }),
      { numRuns },
    );
  });

  it('does so for any text as the file', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...SYNTAX) })), (text) => {
        expect(faultsOrNone(text)).not.toEqual([]);
      }),
      { numRuns },
    );
  });

  it('does so for any text in any variable', () => {
    const names = ENVIRONMENT_TABLE.map(({ name }) => name).filter((name) => name !== 'CONFIG_FILE');
    const good = JSON.stringify(fileWith());
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.string(), fc.stringMatching(/^[\w:/@.,-]{0,30}$/)), {
          maxKeys: 6,
        }),
        (environment) => {
          faultsOrNone(good, environment);
        },
      ),
      { numRuns },
    );
  });
});
