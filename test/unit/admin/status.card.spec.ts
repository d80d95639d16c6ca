import { describe, expect, it } from '@jest/globals';
import { statusCard } from '../../../src/admin/status.card.js';
import type { DeploymentStatus, KeyStatus, ModelStatus, Status } from '../../../src/ai/index.js';

const key: KeyStatus = {
  provider: 'acme',
  key: 'acme#2',
  kind: 'anthropic',
  state: 'in use',
  worth: undefined,
  parking: undefined,
};
const deployment: DeploymentStatus = {
  deployment: 'acme#2/m-1',
  provider: 'acme',
  key: 'acme#2',
  standing: { state: 'closed', retryAfterMs: 0 },
  inFlight: 2,
  limits: {},
  learned: undefined,
  rateLimits: [],
  shutdownAt: undefined,
  successor: undefined,
};
const model: ModelStatus = {
  model: 'm',
  limits: { rpm: 5 },
  timeouts: { connectMs: 1, firstTokenMs: 20_000, idleMs: 3 },
  latency: { firstTokenLimitMs: 20_000 },
  answerLimitMs: 25_000,
  tokenRatio: 1,
  deployments: [deployment],
};
const status: Status = {
  pod: {
    startedAt: Date.UTC(2026, 10, 29, 12) + 0.4,
    isSimulated: false,
    isAlone: false,
    inFlight: 2,
    requestDeadlineMs: 120_000,
    attempts: { perRequest: 6, perDeployment: 2, firstBackoffMs: 1, longestBackoffMs: 1, patienceMs: 1 },
  },
  keys: [key],
  models: [model],
};

const cardOf = (more: Partial<Status>) => statusCard({ ...status, ...more }, 'a-process');
const upstreamOf = (more: Partial<KeyStatus>) => cardOf({ keys: [{ ...key, ...more }] }).upstreams[0];
const modelOf = (more: Partial<ModelStatus>) => cardOf({ models: [{ ...model, ...more }] }).models[0];
const deploymentOf = (more: Partial<DeploymentStatus>) =>
  modelOf({ deployments: [{ ...deployment, ...more }] })?.deployments[0];

describe('statusCard()', () => {
  it('says null for what is not known', () => {
    expect(cardOf({})).toEqual({
      object: 'status',
      pod: {
        process: 'a-process',
        started_at: '2026-11-29T12:00:00.000Z',
        upstream: 'providers',
        knowledge: 'shared',
        in_flight: 2,
        request_deadline_ms: 120_000,
        attempts: { per_request: 6, per_deployment: 2 },
      },
      upstreams: [
        {
          provider: 'acme',
          key: 'acme#2',
          kind: 'anthropic',
          state: 'in use',
          tier: null,
          quota_left: null,
          quota_unit: null,
          stale: false,
          parked: null,
          parked_left_ms: 0,
        },
      ],
      models: [
        {
          model: 'm',
          timeouts: {
            connect_ms: 1,
            first_token_ms: 20_000,
            first_token_learned: false,
            answer_ms: 25_000,
            idle_ms: 3,
          },
          latency: { mean_first_token_ms: null, tokens_per_second: null },
          token_ratio: 1,
          limits: { rpm: 5, tpm: null, concurrency: null },
          deployments: [
            {
              deployment: 'acme#2/m-1',
              provider: 'acme',
              key: 'acme#2',
              state: 'closed',
              retry_after_ms: 0,
              last_failure: null,
              in_flight: 2,
              limits: { rpm: null, tpm: null, concurrency: null },
              learned_limits: null,
              rate_limits: [],
              shutdown_date: null,
              successor: null,
            },
          ],
        },
      ],
    });
  });

  it('says who answers and whose knowledge it is', () => {
    const { pod } = cardOf({ pod: { ...status.pod, isSimulated: true, isAlone: true } });
    expect(pod).toMatchObject({ upstream: 'simulator', knowledge: 'own' });
  });

  it('tells what a key is worth, how certain that is, and why it is out', () => {
    const worth = { tier: 'pro', unit: 'usd', remaining: 12.5, isStale: true } as const;
    expect(upstreamOf({ worth, parking: { reason: 'refused', leftMs: 9 } })).toMatchObject({
      tier: 'pro',
      quota_left: 12.5,
      quota_unit: 'usd',
      stale: true,
      parked: 'refused',
      parked_left_ms: 9,
    });
    expect(upstreamOf({ worth: { tier: 'free', unit: 'requests', isStale: false } })).toMatchObject({
      tier: 'free',
      quota_left: null,
      quota_unit: null,
    });
  });

  it('tells learned timeouts from configured ones', () => {
    const latency = { firstTokenLimitMs: 5_000, meanFirstTokenMs: 612.7, tokensPerSecond: 88.888 };
    expect(modelOf({ latency, tokenRatio: 1.25 })).toMatchObject({
      timeouts: { first_token_ms: 5_000, first_token_learned: true },
      latency: { mean_first_token_ms: 613, tokens_per_second: 88.9 },
      token_ratio: 1.25,
    });
  });

  it('tells why a deployment is left alone, what its provider still allows, and when it ends', () => {
    expect(
      deploymentOf({
        standing: { state: 'open', retryAfterMs: 4_000, code: 'overloaded' },
        learned: { requests: 10 },
        rateLimits: [
          { unit: 'requests', limit: 10, remaining: 3, resetMs: 700 },
          { unit: 'tokens', remaining: 0, resetMs: 1 },
        ],
        shutdownAt: Date.UTC(2027, 0, 14),
        successor: 'next',
      }),
    ).toMatchObject({
      state: 'open',
      retry_after_ms: 4_000,
      last_failure: 'overloaded',
      learned_limits: { rpm: 10, tpm: null },
      rate_limits: [
        { unit: 'requests', limit: 10, remaining: 3, reset_ms: 700 },
        { unit: 'tokens', limit: null, remaining: 0, reset_ms: 1 },
      ],
      shutdown_date: '2027-01-14',
      successor: 'next',
    });
  });
});
