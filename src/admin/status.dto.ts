import { ApiProperty } from '@nestjs/swagger';
import type { KeyStatus, UpstreamStatus } from '../ai/index.js';
import { ModelStatusCard } from './status.models.dto.js';

type Worth = NonNullable<KeyStatus['worth']>;
type ParkingReason = NonNullable<KeyStatus['parking']>['reason'];

const UPSTREAM_STATES = [
  'in use',
  'cooldown',
  'key refused',
  'quota used up',
] as const satisfies readonly UpstreamStatus[];
const KINDS = ['openai', 'azure', 'anthropic', 'vertex'] as const satisfies readonly KeyStatus['kind'][];
const TIERS = ['free', 'pro', 'enterprise'] as const satisfies readonly Worth['tier'][];
const QUOTA_UNITS = ['requests', 'tokens', 'usd'] as const satisfies readonly Worth['unit'][];
const PARKING_REASONS = ['quota', 'refused'] as const satisfies readonly ParkingReason[];

const MS = { type: 'integer', minimum: 0 } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;

/** How often one request is tried, by `attempts` of coordinator.yaml. */
export class AttemptsCard {
  @ApiProperty({ ...COUNT, description: 'calls of providers for one request' })
  readonly per_request: number = 0;

  @ApiProperty({ ...COUNT, description: 'calls of one deployment for one request' })
  readonly per_deployment: number = 0;
}

/** The process that answers. */
export class PodCard {
  @ApiProperty({ description: 'its name where it holds a lock or waits for one; another one after each start' })
  readonly process: string = '';

  @ApiProperty({ type: String, format: 'date-time', description: 'when it was started' })
  readonly started_at: string = '';

  @ApiProperty({ enum: ['providers', 'simulator'], description: 'who answers completions' })
  readonly upstream: 'providers' | 'simulator' = 'providers';

  @ApiProperty({
    enum: ['shared', 'own'],
    description: '`own`: the store does not answer, so what is told here is what this pod has seen itself',
  })
  readonly knowledge: 'shared' | 'own' = 'shared';

  @ApiProperty({ ...COUNT, description: 'its calls of providers that are under way' })
  readonly in_flight: number = 0;

  @ApiProperty({ ...MS, description: 'the longest that a request may take' })
  readonly request_deadline_ms: number = 0;

  @ApiProperty({ type: AttemptsCard })
  readonly attempts: AttemptsCard = new AttemptsCard();
}

/** One key of ours at a provider. */
export class KeyStatusCard {
  @ApiProperty({ example: 'openai' })
  readonly provider: string = '';

  @ApiProperty({ description: "the provider's name, and the key's place where it has several", example: 'openai#2' })
  readonly key: string = '';

  @ApiProperty({ enum: KINDS, description: 'its protocol' })
  readonly kind: KeyStatus['kind'] = 'openai';

  @ApiProperty({ enum: UPSTREAM_STATES, description: 'as good as the best of its deployments' })
  readonly state: UpstreamStatus = 'in use';

  @ApiProperty({
    enum: [...TIERS, null],
    nullable: true,
    description: 'by the provider; null: it cannot be asked, and the key is unrestricted, or it was not asked yet',
  })
  readonly tier: Worth['tier'] | null = null;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    nullable: true,
    description: 'by the last check, less what was spent since, in `quota_unit`; null: the provider does not tell',
  })
  readonly quota_left: number | null = null;

  @ApiProperty({ enum: [...QUOTA_UNITS, null], nullable: true })
  readonly quota_unit: Worth['unit'] | null = null;

  @ApiProperty({
    description:
      'the last check failed: tier and quota are what was known before, or, before the first one, a free key with 1,000 requests',
  })
  readonly stale: boolean = false;

  @ApiProperty({
    enum: [...PARKING_REASONS, null],
    nullable: true,
    description:
      'why it is out: `quota`, what was bought is used up; `refused`, the provider does not take it; null: it may be used',
  })
  readonly parked: ParkingReason | null = null;

  @ApiProperty({ ...MS, description: 'until a key that is out is tried again, unless a check passes before' })
  readonly parked_left_ms: number = 0;
}

/** The answer of `GET /v1/status`. */
export class StatusCard {
  @ApiProperty({ enum: ['status'] })
  readonly object = 'status';

  @ApiProperty({ type: PodCard })
  readonly pod: PodCard = new PodCard();

  @ApiProperty({ type: [KeyStatusCard], description: 'the keys in use, provider by provider' })
  readonly upstreams: readonly KeyStatusCard[] = [];

  @ApiProperty({ type: [ModelStatusCard] })
  readonly models: readonly ModelStatusCard[] = [];
}
