import { ApiProperty } from '@nestjs/swagger';
import { UPSTREAM_STATES, type UpstreamState } from './health.options.js';

/** The answer of `GET /health`. */
export class Liveness {
  @ApiProperty({ enum: ['ok'] })
  readonly status = 'ok';
}

/** An upstream, as `GET /ready` lists it. */
export class ListedUpstream implements UpstreamState {
  @ApiProperty({ example: 'openai' })
  readonly provider: string = '';

  @ApiProperty({ type: [String], description: 'catalogue names', example: ['gpt-4.1'] })
  readonly models: readonly string[] = [];

  @ApiProperty({ enum: UPSTREAM_STATES })
  readonly state: UpstreamState['state'] = 'in use';
}

/** The answer of `GET /ready`. */
export class Readiness {
  @ApiProperty({ enum: ['ok', 'error', 'shutting_down'], description: '`ok`: takes requests' })
  readonly status: string = 'ok';

  @ApiProperty({
    type: 'object',
    selfRequired: true,
    description: 'what decides, by name: `process` and `store`; each with what an operator should know',
    additionalProperties: {
      type: 'object',
      required: ['status'],
      properties: { status: { type: 'string', enum: ['up', 'down'] } },
      additionalProperties: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    },
  })
  readonly details: object = {};

  @ApiProperty({ type: [ListedUpstream], description: 'for information: never decisive' })
  readonly upstreams: readonly ListedUpstream[] = [];
}

const UPSTREAMS = [{ provider: 'openai', models: ['gpt-4.1'], state: 'in use' }];

export const READY_EXAMPLE = {
  status: 'ok',
  details: {
    process: { status: 'up', phase: 'serving' },
    store: { status: 'up', kind: 'memory', note: 'single replica only' },
  },
  upstreams: UPSTREAMS,
};

export const NOT_READY_EXAMPLE = {
  status: 'error',
  details: { ...READY_EXAMPLE.details, process: { status: 'down', phase: 'draining' } },
  upstreams: UPSTREAMS,
};
