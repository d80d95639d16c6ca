import { hash } from 'node:crypto';
import type { SimulatedModel } from '../../src/simulator/index.js';
import { modelAcross, providerAt } from './config-file.js';
import type { ConfiguredOptions } from './configured-coordinator.js';

export const CHAOS_PROVIDERS = ['a', 'b', 'c', 'd', 'e'] as const;
/** Of each provider, in this order. */
export const CHAOS_KEYS = ['1-good', '2-refused', '3-used-up', '4-good'] as const;
export const BAD_KEYS = { refused: CHAOS_KEYS[1], usedUp: CHAOS_KEYS[2] };

export type ChaosModel = 'basic' | 'medium' | 'large' | 'tiny';
export const CHAOS_TIER_NAMES = ['free', 'pro', 'enterprise'] as const;
export type ChaosTier = (typeof CHAOS_TIER_NAMES)[number];

interface ModelRules {
  readonly providers: readonly [string, string];
  readonly fallbacks: readonly ChaosModel[];
}

export const CHAOS_MODELS: Readonly<Record<ChaosModel, ModelRules>> = {
  basic: { providers: ['a', 'e'], fallbacks: [] },
  medium: { providers: ['c', 'd'], fallbacks: ['basic'] },
  large: { providers: ['a', 'b'], fallbacks: ['medium', 'basic'] },
  tiny: { providers: ['b', 'd'], fallbacks: ['medium', 'large'] },
};
/** Larger by our configuration than there: the provider finds out. Tokens. */
const TINY_WINDOW = { there: 200, here: 4_000 };
const WINDOW = 100_000;
const MAX_OUTPUT_TOKENS = 60;

/** Which models a caller of each tier may use, the first one in place of those it may not. */
export const CHAOS_TIERS: Readonly<Record<ChaosTier, readonly [ChaosModel, ...ChaosModel[]]>> = {
  free: ['basic'],
  pro: ['basic', 'medium', 'tiny'],
  enterprise: ['basic', 'medium', 'tiny', 'large'],
};

export const CHAOS_DEADLINE_MS = 6_000;
export const CHAOS_ATTEMPTS = { perRequest: 6, perDeployment: 2 };
/** USD per million tokens, of every deployment. */
export const CHAOS_PRICES = { input: 2, cachedInput: 0.5, output: 8 };

/** Who asks for what. */
export interface ChaosQuestion {
  readonly tier: ChaosTier;
  /** More than one: the caller's own list. */
  readonly models: readonly [ChaosModel, ...ChaosModel[]];
  readonly isStrict: boolean;
}

/**
 * The models that may answer, said once more in the words of the contract: those that are named, then, unless the caller is strict or
 * gives a list of its own, their fallbacks; all of them of the caller's tier. Whoever may use none of them gets the tier's first.
 */
export function chainOf({ tier, models, isStrict }: ChaosQuestion): readonly ChaosModel[] {
  const isAllowed = (model: ChaosModel): boolean => CHAOS_TIERS[tier].includes(model);
  const named = [...new Set(models.filter(isAllowed))];
  if (isStrict) return named;
  const fallbacks = models.length > 1 ? [] : named.flatMap((model) => CHAOS_MODELS[model].fallbacks).filter(isAllowed);
  return named.length === 0 ? [CHAOS_TIERS[tier][0]] : [...new Set([...named, ...fallbacks])];
}

/** Its deployments behind good keys. */
export function goodDeployments(model: ChaosModel): readonly string[] {
  const good = CHAOS_KEYS.filter((key) => key.endsWith('good'));
  return CHAOS_MODELS[model].providers.flatMap((provider) => good.map((key) => deploymentId({ provider, model, key })));
}

export function deploymentId({
  provider,
  model,
  key,
}: {
  readonly provider: string;
  readonly model: string;
  readonly key: string;
}): string {
  return `${provider}/${model}/${key}`;
}

/** The key of a caller of that tier. */
export function callerKey(tier: ChaosTier): string {
  return `key-of-a-caller-${tier}`;
}

/** The models as one provider offers them. */
export function offeredModels(provider: string): readonly SimulatedModel[] {
  return Object.keys(CHAOS_MODELS).map((name) => ({
    name: `${provider}-${name}`,
    contextWindow: name === 'tiny' ? TINY_WINDOW.there : WINDOW,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    tokenizer: { encoding: 'o200k', ratio: 1 },
    firstTokenMs: 5,
    tokensPerSecond: 2_000,
  }));
}

/** This service before the providers, in the order of `CHAOS_PROVIDERS`. */
export function chaosConfiguration(urls: readonly string[]): ConfiguredOptions {
  const timeouts = { connectMs: '500ms', firstTokenMs: '400ms', idleMs: '500ms' };
  const variablesOf = (provider: string): readonly string[] =>
    CHAOS_KEYS.map((_, key) => `${provider.toUpperCase()}_KEY_${String(key + 1)}`);
  return {
    file: {
      attempts: CHAOS_ATTEMPTS,
      providers: CHAOS_PROVIDERS.map((provider, index) =>
        providerAt(provider, urls[index] ?? '', { keyVariable: variablesOf(provider) }),
      ),
      models: Object.entries(CHAOS_MODELS).map(([name, { providers, fallbacks }]) =>
        modelAcross(providers, name, {
          contextWindow: name === 'tiny' ? TINY_WINDOW.here : WINDOW,
          maxOutputTokens: MAX_OUTPUT_TOKENS,
          timeouts,
          fallbacks,
        }),
      ),
      tiers: CHAOS_TIERS,
      callers: CHAOS_TIER_NAMES.map((tier) => ({ name: tier, tier, keySha256: hash('sha256', callerKey(tier)) })),
    },
    keys: Object.fromEntries(
      CHAOS_PROVIDERS.flatMap((provider) =>
        variablesOf(provider).map((name, key) => [name, `key-at-${provider}-${CHAOS_KEYS[key] ?? ''}`]),
      ),
    ),
    environment: { REQUEST_DEADLINE_MS: String(CHAOS_DEADLINE_MS) },
  };
}
