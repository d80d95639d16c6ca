import { ApiProperty } from '@nestjs/swagger';
import type { DeploymentStatus } from '../ai/index.js';

type StandingState = DeploymentStatus['standing']['state'];
type RateUnit = DeploymentStatus['rateLimits'][number]['unit'];

const STANDINGS = ['closed', 'open', 'half-open'] as const satisfies readonly StandingState[];
const RATE_UNITS = ['requests', 'tokens', 'input-tokens', 'output-tokens'] as const satisfies readonly RateUnit[];

const MS = { type: 'integer', minimum: 0 } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;
const UNKNOWN_COUNT = { type: 'integer', minimum: 0, nullable: true } as const;

/** What may be used in a minute; null: any number. */
export class MinuteLimitsCard {
  @ApiProperty({ ...UNKNOWN_COUNT, description: 'requests a minute' })
  readonly rpm: number | null = null;

  @ApiProperty({ ...UNKNOWN_COUNT, description: 'tokens a minute' })
  readonly tpm: number | null = null;
}

/** What coordinator.yaml allows, all pods together; null: unlimited. */
export class LimitsCard extends MinuteLimitsCard {
  @ApiProperty({ ...UNKNOWN_COUNT, description: 'calls at one time' })
  readonly concurrency: number | null = null;
}

/** How long an attempt at a model may take at present. */
export class TimeoutsCard {
  @ApiProperty({ ...MS, description: 'TCP and TLS' })
  readonly connect_ms: number = 0;

  @ApiProperty({ ...MS, description: 'until the first content of a stream, while another candidate is left' })
  readonly first_token_ms: number = 0;

  @ApiProperty({ description: '`first_token_ms` follows from the latest calls; false: it is that of coordinator.yaml' })
  readonly first_token_learned: boolean = false;

  @ApiProperty({
    ...MS,
    description:
      'until a JSON answer of `max_output_tokens`, while another candidate is left; less where a request asks for less',
  })
  readonly answer_ms: number = 0;

  @ApiProperty({ ...MS, description: 'between two pieces of an answer' })
  readonly idle_ms: number = 0;
}

/** How fast a model was lately, over all pods; null: not enough calls yet. */
export class LatencyStatusCard {
  @ApiProperty({ ...UNKNOWN_COUNT, description: 'of streams, ms' })
  readonly mean_first_token_ms: number | null = null;

  @ApiProperty({ type: 'number', minimum: 0, nullable: true, description: 'of JSON answers' })
  readonly tokens_per_second: number | null = null;
}

/** A provider's own rate limit, as its last answers told it. */
export class RateLimitStatusCard {
  @ApiProperty({ enum: RATE_UNITS })
  readonly unit: RateUnit = 'requests';

  @ApiProperty({ ...UNKNOWN_COUNT, description: 'null: not told' })
  readonly limit: number | null = null;

  @ApiProperty(COUNT)
  readonly remaining: number = 0;

  @ApiProperty({ ...MS, description: 'until it is full again' })
  readonly reset_ms: number = 0;
}

/** One provider's model behind one key. */
export class DeploymentCard {
  @ApiProperty({ description: "the key, and the model's name at the provider", example: 'openai#2/gpt-4.1-2025-04-14' })
  readonly deployment: string = '';

  @ApiProperty({ example: 'openai' })
  readonly provider: string = '';

  @ApiProperty({ example: 'openai#2' })
  readonly key: string = '';

  @ApiProperty({
    enum: STANDINGS,
    description:
      '`closed`: in use; `open`: left alone after failures; `half-open`: one call of all pods finds out whether it is back',
  })
  readonly state: StandingState = 'closed';

  @ApiProperty({ ...MS, description: 'until it may be tried again; 0: now' })
  readonly retry_after_ms: number = 0;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'the error code it is left alone for; null while `closed`',
  })
  readonly last_failure: string | null = null;

  @ApiProperty({ ...COUNT, description: 'calls of this pod that are under way' })
  readonly in_flight: number = 0;

  @ApiProperty({ type: LimitsCard })
  readonly limits: LimitsCard = new LimitsCard();

  @ApiProperty({
    type: MinuteLimitsCard,
    nullable: true,
    description:
      'lower ones that its provider told within 3 minutes, which hold in place of `limits`, and of those of a model that has no other deployment',
  })
  readonly learned_limits: MinuteLimitsCard | null = null;

  @ApiProperty({ type: [RateLimitStatusCard], description: 'those that are not full' })
  readonly rate_limits: readonly RateLimitStatusCard[] = [];

  @ApiProperty({
    type: String,
    format: 'date',
    nullable: true,
    description: 'from this day (UTC) on its vendor answers no more, and it is left out; null: no end is known',
    example: '2027-01-14',
  })
  readonly shutdown_date: string | null = null;

  @ApiProperty({ type: String, nullable: true, description: 'the model that its vendor names in its place' })
  readonly successor: string | null = null;
}

/** A model that providers in use serve. */
export class ModelStatusCard {
  @ApiProperty({ description: 'the catalogue name', example: 'gpt-4.1' })
  readonly model: string = '';

  @ApiProperty({ type: TimeoutsCard })
  readonly timeouts: TimeoutsCard = new TimeoutsCard();

  @ApiProperty({ type: LatencyStatusCard })
  readonly latency: LatencyStatusCard = new LatencyStatusCard();

  @ApiProperty({
    type: 'number',
    minimum: 0,
    description: 'by how much the providers count more tokens of prompts than this service; 1 until something is known',
  })
  readonly token_ratio: number = 1;

  @ApiProperty({ type: LimitsCard })
  readonly limits: LimitsCard = new LimitsCard();

  @ApiProperty({ type: [DeploymentCard], description: 'in the order in which the model prefers them' })
  readonly deployments: readonly DeploymentCard[] = [];
}
