import { Catalogue, type CatalogueOptions } from '../../src/ai/catalogue/catalogue.js';
import type { DeploymentSettings, ModelSettings } from '../../src/config/index.js';

/** A deployment at a provider of that name, at 1 USD per million tokens. */
export const deployment = (provider: string, more: Partial<DeploymentSettings> = {}): DeploymentSettings => ({
  provider,
  model: `${provider}-name`,
  prices: { input: 1, cachedInput: 1, output: 1 },
  limits: {},
  ...more,
});

export const model = (
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
  expectedOutputTokens: 1_024,
  cacheTtlMs: 300_000,
  fallbacks: [],
  prefer: 'listed',
  deployments,
  simulated: { firstTokenMs: 1, tokensPerSecond: 1_000 },
  ...more,
});

export const provider = (name: string, apiKey?: string) => ({
  name,
  kind: 'openai' as const,
  baseUrl: `https://${name}.example/v1`,
  keyVariables: ['KEY'],
  allowPrivate: false,
  apiKeys: apiKey === undefined ? [] : [apiKey],
  apiKeyVariables: apiKey === undefined ? [] : ['KEY'],
  contextErrorPatterns: [],
});

export const NOW = Date.UTC(2027, 5, 1);
export const PAST = Date.UTC(2027, 0, 14);

/** big (one, two), small (one), gone (one, past its end), keyless (three, which has no key). */
export const catalogue = (more: Partial<CatalogueOptions> = {}): Catalogue =>
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
