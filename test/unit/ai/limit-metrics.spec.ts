import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Catalogue } from '../../../src/ai/catalogue/catalogue.js';
import { LimitMetrics } from '../../../src/ai/quota/limit.metrics.js';
import { loadSettings } from '../../../src/config/index.js';

const NOW = Date.parse('2026-11-29');

async function linesFor(model: object, deployment: object): Promise<readonly string[]> {
  const file = {
    providers: [
      { name: 'acme', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', keyVariable: ['ACME_KEY', 'ACME_KEY_2'] },
      { name: 'absent', kind: 'openai', baseUrl: 'http://127.0.0.1:9/v1', keyVariable: 'ABSENT_KEY' },
    ],
    models: [
      {
        name: 'one',
        contextWindow: 1_000,
        maxOutputTokens: 100,
        ...model,
        deployments: [
          { provider: 'acme', model: 'm-1', ...deployment },
          { provider: 'absent', model: 'm-1', limits: { rpm: 7 } },
        ],
      },
    ],
    tiers: { free: ['one'], pro: ['one'], enterprise: ['one'] },
  };
  const settings = loadSettings({
    environment: { ACME_KEY: 'made-up-1', ACME_KEY_2: 'made-up-2' },
    readFile: () => JSON.stringify(file),
    now: NOW,
  });
  const registry = new Registry();
  const { models, providers, tiers } = settings;
  new LimitMetrics(registry, new Catalogue({ models, providers, tiers, now: () => NOW }));
  return (await registry.metrics()).split('\n').filter((line) => line.startsWith('coordinator_limit{'));
}

describe('LimitMetrics', () => {
  it("shows a model's limits and those of each key's deployment, in one unit", async () => {
    const limits = { limits: { rpm: 500, tpm: 9_000, concurrency: 3 } };
    expect(await linesFor(limits, { limits: { windows: [{ windowMs: 5_000, requests: 20 }] } })).toEqual([
      'coordinator_limit{model="one",deployment="",unit="requests_per_minute"} 500',
      'coordinator_limit{model="one",deployment="",unit="tokens_per_minute"} 9000',
      'coordinator_limit{model="one",deployment="",unit="slots"} 3',
      'coordinator_limit{model="one",deployment="acme#1/m-1",unit="requests_per_minute"} 240',
      'coordinator_limit{model="one",deployment="acme#2/m-1",unit="requests_per_minute"} 240',
    ]);
  });

  it('shows of several windows the one with the least, and nothing where nothing is limited', async () => {
    const windows = [
      { windowMs: 1_000, requests: 10 },
      { windowMs: 600_000, requests: 1_000 },
    ];
    expect(await linesFor({ limits: { rpm: 500, windows } }, {})).toEqual([
      'coordinator_limit{model="one",deployment="",unit="requests_per_minute"} 100',
    ]);
    expect(await linesFor({}, {})).toEqual([]);
  });
});
