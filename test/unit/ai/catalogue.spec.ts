import { describe, expect, it } from '@jest/globals';
import { Catalogue, type CatalogueOptions } from '../../../src/ai/catalogue/catalogue.js';
import { chooseRoute, type Route } from '../../../src/ai/catalogue/route.js';
import type { Caller } from '../../../src/auth/index.js';
import type { DeploymentSettings, ModelSettings } from '../../../src/config/index.js';

const deployment = (provider: string, more: Partial<DeploymentSettings> = {}): DeploymentSettings => ({
  provider,
  model: `${provider}-name`,
  prices: { input: 1, cachedInput: 1, output: 1 },
  limits: {},
  ...more,
});

const model = (
  name: string,
  deployments: readonly DeploymentSettings[],
  more: Partial<ModelSettings> = {},
): ModelSettings => ({
  name,
  aliases: [`${name}-alias`],
  created: 1,
  ownedBy: 'acme',
  contextWindow: 1_000,
  maxOutputTokens: 100,
  separateInputLimit: false,
  supportsTemperature: true,
  tokenizer: { encoding: 'o200k', ratio: 1 },
  limits: {},
  timeouts: { connectMs: 3_000, firstTokenMs: 1_000, idleMs: 1_000 },
  slotLeaseMs: 1_000,
  busyWaitMs: 0,
  fallbacks: [],
  prefer: 'listed',
  deployments,
  simulated: { firstTokenMs: 1, tokensPerSecond: 1_000 },
  ...more,
});

const provider = (name: string, apiKey?: string) => ({
  name,
  kind: 'openai' as const,
  baseUrl: `https://${name}.example/v1`,
  keyVariable: 'KEY',
  ...(apiKey !== undefined && { apiKey }),
});

const NOW = Date.UTC(2027, 5, 1);
const PAST = Date.UTC(2027, 0, 14);

const catalogue = (more: Partial<CatalogueOptions> = {}): Catalogue =>
  new Catalogue({
    models: [
      model('big', [deployment('one'), deployment('two')]),
      model('small', [deployment('one')]),
      model('gone', [deployment('one', { shutdownAt: PAST, successor: 'next' })]),
      model('keyless', [deployment('three')]),
    ],
    providers: [provider('one', 'k1'), provider('two', 'k2'), provider('three')],
    tiers: { free: ['small'], pro: ['gone', 'small'], enterprise: ['big', 'small', 'gone', 'keyless'] },
    now: () => NOW,
    ...more,
  });

const caller = (tier: Caller['tier']): Caller => ({ id: 'c', tier, scopes: ['chat'], weight: 1 });

const route = (names: readonly string[], tier: Caller['tier'] = 'enterprise', isStrict = false): Route =>
  chooseRoute(catalogue(), { names, caller: caller(tier), isStrict });

describe('chooseRoute()', () => {
  it('answers the requested model with its deployments in order', () => {
    const { model: chosen, reason, deployments } = route(['big']);
    expect([chosen.name, reason, deployments.map(({ upstream }) => upstream.name)]).toEqual([
      'big',
      'requested',
      ['one', 'two'],
    ]);
  });

  it('resolves an alias and says so', () => {
    expect(route(['big-alias'])).toMatchObject({ model: { name: 'big' }, reason: 'alias' });
  });

  it('does not know a model that is not in the catalogue', () => {
    expect(() => route(['nope'])).toThrow(expect.objectContaining({ code: 'model_not_found', param: 'model' }));
  });

  it.each(['__proto__', 'constructor', 'toString', ''])('does not take %j for a model', (name) => {
    expect(() => route([name])).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });

  it("puts the tier's first served model in place of one outside the tier", () => {
    expect(route(['big'], 'free')).toMatchObject({ model: { name: 'small' }, reason: 'tier' });
    expect(route(['big'], 'pro')).toMatchObject({ model: { name: 'small' }, reason: 'tier' });
  });

  it('refuses instead when the caller is strict', () => {
    expect(() => route(['big'], 'free', true)).toThrow(expect.objectContaining({ code: 'model_not_allowed' }));
  });

  it('takes the first usable model of an explicit list', () => {
    expect(route(['nope', 'gone', 'small', 'big'])).toMatchObject({ model: { name: 'small' }, reason: 'requested' });
  });

  it('says when a model was shut down and what its vendor names instead', () => {
    expect(() => route(['gone'])).toThrow(
      expect.objectContaining({ code: 'model_retired', message: expect.stringMatching(/2027-01-14.*next/) }),
    );
  });

  it('does not find a model that no provider with a key serves', () => {
    expect(() => route(['keyless'])).toThrow(expect.objectContaining({ code: 'model_not_found' }));
  });
});

describe('Catalogue', () => {
  it('serves every model by the simulator alone once it has its URL, whatever has been shut down', () => {
    const simulated = catalogue({ simulatorUrl: 'http://127.0.0.1:1/v1' });
    for (const entry of simulated.models) {
      expect(simulated.liveDeployments(entry).map(({ upstream, model: name }) => [upstream.name, name])).toEqual([
        ['simulator', entry.name],
      ]);
      expect(simulated.shutdownOf(entry)).toBeUndefined();
    }
  });

  it('puts the cheapest first where the model prefers it, and what has no price last', () => {
    const { prices: _, ...unpriced } = deployment('two');
    const cheap = deployment('one', { prices: { input: 0.1, cachedInput: 0.1, output: 0.1 } });
    const entry = model('m', [unpriced, deployment('one'), cheap], { prefer: 'cheapest' });
    const live = catalogue({ models: [entry] }).liveDeployments(entry);
    expect(live.map(({ prices }) => prices?.input)).toEqual([0.1, 1, undefined]);
  });

  it('leaves providers out that are of a kind it can not call', () => {
    const entry = model('m', [deployment('one')]);
    const providers = [{ ...provider('one', 'k'), kind: 'anthropic' as const }];
    expect(catalogue({ models: [entry], providers }).liveDeployments(entry)).toEqual([]);
  });

  it('knows which models a provider in use serves', () => {
    expect(
      catalogue()
        .upstreams()
        .map(({ name }) => [name, catalogue().modelsAt(name)]),
    ).toEqual([
      ['one', ['big', 'small', 'gone']],
      ['two', ['big']],
    ]);
  });
});
