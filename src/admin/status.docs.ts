import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { StatusCard } from './status.dto.js';

const UNLIMITED = { rpm: null, tpm: null, concurrency: null };

const STATUS_EXAMPLE: StatusCard = {
  object: 'status',
  pod: {
    process: 'coordinator-6d5f9b7c4-x8k2p-3f9a1c2b7d10',
    started_at: '2026-11-29T12:00:00.000Z',
    upstream: 'providers',
    knowledge: 'shared',
    in_flight: 3,
    request_deadline_ms: 120_000,
    attempts: { per_request: 6, per_deployment: 2 },
  },
  upstreams: [
    {
      provider: 'holysheep',
      key: 'holysheep',
      kind: 'openai',
      state: 'cooldown',
      tier: 'pro',
      quota_left: 8_412,
      quota_unit: 'requests',
      stale: false,
      parked: null,
      parked_left_ms: 0,
    },
    {
      provider: 'openai',
      key: 'openai#2',
      kind: 'openai',
      state: 'quota used up',
      tier: null,
      quota_left: null,
      quota_unit: null,
      stale: false,
      parked: 'quota',
      parked_left_ms: 512_300,
    },
  ],
  models: [
    {
      model: 'gpt-4.1',
      timeouts: {
        connect_ms: 3_000,
        first_token_ms: 5_000,
        first_token_learned: true,
        answer_ms: 369_089,
        idle_ms: 30_000,
      },
      latency: { mean_first_token_ms: 640, tokens_per_second: 90 },
      token_ratio: 1.02,
      limits: { rpm: 500, tpm: null, concurrency: null },
      deployments: [
        {
          deployment: 'holysheep/gpt-4.1',
          provider: 'holysheep',
          key: 'holysheep',
          state: 'open',
          retry_after_ms: 3_870,
          last_failure: 'upstream_error',
          in_flight: 0,
          limits: UNLIMITED,
          learned_limits: null,
          rate_limits: [],
          shutdown_date: null,
          successor: null,
        },
        {
          deployment: 'openai#2/gpt-4.1-2025-04-14',
          provider: 'openai',
          key: 'openai#2',
          state: 'closed',
          retry_after_ms: 0,
          last_failure: null,
          in_flight: 3,
          limits: UNLIMITED,
          learned_limits: null,
          rate_limits: [{ unit: 'requests', limit: 500, remaining: 211, reset_ms: 34_680 }],
          shutdown_date: '2027-01-14',
          successor: 'gpt-6-luna',
        },
      ],
    },
  ],
};

const DESCRIPTION = `What all pods have told each other, as the pod that answers knows it, but for \`in_flight\` and \`pod\`, which are its own. Keys are named, never shown.`;

/** Documents `GET /v1/status`. */
export function StatusDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'getStatus',
      summary: 'Keys, quotas, cooldowns, timeouts and limits of the providers in use',
      description: DESCRIPTION,
    }),
    ApiOkResponse({ type: StatusCard, description: 'As it was a moment ago.', example: STATUS_EXAMPLE }),
    ApiExtension('x-errors', { insufficient_scope: { message: 'this API key lacks the scope "admin"' } }),
  );
}
