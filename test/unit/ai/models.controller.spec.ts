import { describe, expect, it } from '@jest/globals';
import { ModelsController } from '../../../src/ai/endpoint/models.controller.js';
import type { PriceSettings } from '../../../src/config/index.js';
import { catalogue, deployment, model } from '../../support/catalogues.js';

const caller = { id: 'c', tier: 'free', scopes: ['chat'], weight: 1, limits: {} } as const;

const pricingWith = (prices: PriceSettings): object | null => {
  const places = catalogue({ models: [model('m', [deployment('one', { prices })])] });
  return new ModelsController(places).get('m', caller).pricing;
};

describe('GET /v1/models/{id}', () => {
  it.each([
    [
      { input: 3, cachedInput: 0.3, cacheWrite: 3.75, cacheWrite1h: 6, output: 15 },
      { input: 3, cached_input: 0.3, cache_write: 3.75, cache_write_1h: 6, output: 15 },
    ],
    [
      { input: 3, cachedInput: 0.3, cacheWrite: 0, output: 15 },
      { input: 3, cached_input: 0.3, cache_write: 0, output: 15 },
    ],
    [
      { input: 3, cachedInput: 0.3, output: 15 },
      { input: 3, cached_input: 0.3, output: 15 },
    ],
  ])('tells all prices that are configured, and no other: %j', (prices, pricing) => {
    expect(pricingWith(prices)).toEqual(pricing);
  });
});
