import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ENVIRONMENT_TABLE, SHIPPED_CONFIG_FILE, type Settings } from '../../../src/config/index.js';
import { load } from './sources.js';

const KEYS = {
  HOLYSHEEP_API_KEY: 'k',
  OPENAI_API_KEY: 'k',
  ANTHROPIC_API_KEY: 'k',
  AZURE_OPENAI_API_KEY: 'k',
  VERTEX_CREDENTIALS: 'k',
};
const PLACES = { AZURE_OPENAI_ENDPOINT: 'https://r.openai.azure.com/', VERTEX_PROJECT: 'p1' };

function pricesOf(settings: Settings, provider: string): readonly (readonly [string, number, number])[] {
  return settings.models.flatMap(({ name, deployments }) =>
    deployments.flatMap((deployment) =>
      deployment.provider === provider && deployment.prices !== undefined
        ? [[name, deployment.prices.input, deployment.prices.output] as const]
        : [],
    ),
  );
}

describe('the shipped coordinator.yaml', () => {
  it.each(['2026-11-29', '2027-06-01', '2036-01-01'])(
    'loads without a fault on %s, and every model has a live deployment',
    (day) => {
      const now = Date.parse(day);
      for (const environment of [{}, { ...KEYS, ...PLACES }]) {
        for (const { deployments } of load({ environment, now }).models) {
          expect(deployments.some(({ shutdownAt = Infinity }) => shutdownAt > now)).toBe(true);
        }
      }
    },
  );

  it('gives an end and a successor to vendors only', () => {
    for (const { provider, shutdownAt, successor } of load().models.flatMap(({ deployments }) => deployments)) {
      expect([shutdownAt === undefined, successor === undefined]).toEqual(Array(2).fill(provider === 'holysheep'));
    }
  });

  it('tells on 2027-06-01 what has ended, naming the successors', () => {
    const { notices } = load({ environment: { ...KEYS, ...PLACES }, now: Date.parse('2027-06-01') });
    expect(notices).toEqual(
      expect.arrayContaining([
        'gpt-4.1 at openai was shut down on 2027-01-14 and is left out; its successor is gpt-6-luna',
        'claude-sonnet-4.5 at anthropic was shut down on 2026-11-30 and is left out; its successor is claude-sonnet-5-5',
        'gemini-2.5-flash at vertex was shut down on 2026-12-01 and is left out; its successor is gemini-3.5-flash-lite',
      ]),
    );
  });

  it('has the five providers', () => {
    const { providers } = load({ environment: { ...KEYS, ...PLACES } });
    expect(providers.map(({ name, kind, baseUrl }) => [name, kind, baseUrl])).toEqual([
      ['holysheep', 'openai', 'https://api.holysheep.ai/v1'],
      ['openai', 'openai', 'https://api.openai.com/v1'],
      ['anthropic', 'anthropic', 'https://api.anthropic.com/v1'],
      ['azure', 'azure', 'https://r.openai.azure.com/openai/v1'],
      ['vertex', 'vertex', 'https://aiplatform.googleapis.com/v1/projects/p1/locations/global'],
    ]);
    expect(providers.map(({ usagePath }) => usagePath)).toEqual(['/usage', undefined, undefined, undefined, undefined]);
  });

  it("has both price lists: HolySheep's and the vendors'", () => {
    const settings = load();
    expect(pricesOf(settings, 'holysheep')).toEqual([
      ['gpt-4.1', 2, 8],
      ['claude-sonnet-4.5', 3, 15],
      ['gemini-2.5-flash', 0.1, 2.5],
      ['deepseek-v3.2', 0.14, 0.42],
    ]);
    expect(['openai', 'azure', 'anthropic', 'vertex'].flatMap((provider) => pricesOf(settings, provider))).toEqual([
      ['gpt-4.1', 2, 8],
      ['gpt-4.1', 2, 8],
      ['claude-sonnet-4.5', 3, 15],
      ['gemini-2.5-flash', 0.3, 2.5],
    ]);
  });

  it('has the four models with their limits, timers and fallbacks', () => {
    const rows = load().models.map((model) => [
      model.name,
      model.limits.rpm,
      model.timeouts.firstTokenMs,
      model.slotLeaseMs,
      model.fallbacks,
    ]);
    expect(rows).toEqual([
      ['gpt-4.1', 500, 20_000, 60_000, ['gemini-2.5-flash']],
      ['claude-sonnet-4.5', 400, 15_000, 45_000, ['gemini-2.5-flash']],
      ['gemini-2.5-flash', 1_000, 3_000, 30_000, ['deepseek-v3.2']],
      ['deepseek-v3.2', 2_000, 5_000, 20_000, ['gemini-2.5-flash']],
    ]);
  });

  it('has the three tiers', () => {
    const { tiers } = load();
    expect(tiers.free).toEqual(['deepseek-v3.2']);
    expect(tiers.pro).toEqual(['deepseek-v3.2', 'gemini-2.5-flash']);
    expect([...tiers.enterprise].sort()).toEqual(['claude-sonnet-4.5', 'deepseek-v3.2', 'gemini-2.5-flash', 'gpt-4.1']);
  });

  it('names only variables that the table describes, with the same defaults', () => {
    const text = readFileSync(SHIPPED_CONFIG_FILE, 'utf8').replace(/^ *#.*$/gm, '');
    const named = [...text.matchAll(/keyVariable: (\w+)/g), ...text.matchAll(/\$\{(\w+)(?::-([^}]*))?\}/g)].map(
      ([, name, initial]) => [name, initial],
    );
    const described = new Map(ENVIRONMENT_TABLE.map(({ name, default: initial }) => [name, initial]));
    for (const [name = '', initial] of named) {
      expect([name, described.has(name)]).toEqual([name, true]);
      expect([name, described.get(name)]).toEqual([name, initial]);
    }
  });
});
