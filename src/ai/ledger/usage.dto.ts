import { ApiProperty } from '@nestjs/swagger';
import { BUDGET_PERIODS, BUDGET_UNITS, type BudgetPeriod, type BudgetUnit } from './budget.reader.js';

const COUNT = { type: 'integer', minimum: 0 } as const;
const AMOUNT = { type: 'number', minimum: 0 } as const;
const LIMIT = { type: 'integer', minimum: 0, nullable: true } as const;
const TIME = { type: String, format: 'date-time' } as const;

/** What calls came to. */
export class UsageSumsCard {
  @ApiProperty({ ...COUNT, description: 'all of them, also those that failed' })
  readonly requests: number = 0;

  @ApiProperty({ ...COUNT, description: 'of them those that were answered from the cache; free' })
  readonly cache_hits: number = 0;

  @ApiProperty({ ...COUNT, description: 'those that were answered together with an identical call; free' })
  readonly joined: number = 0;

  @ApiProperty({ ...COUNT, description: 'those that broke off: what was delivered until then is billed' })
  readonly partial: number = 0;

  @ApiProperty({ ...COUNT, description: 'those that got no answer; free, unless the provider says otherwise' })
  readonly failed: number = 0;

  @ApiProperty(COUNT)
  readonly prompt_tokens: number = 0;

  @ApiProperty({ ...COUNT, description: 'of the prompts, those that the providers had cached' })
  readonly cached_tokens: number = 0;

  @ApiProperty(COUNT)
  readonly completion_tokens: number = 0;

  @ApiProperty({ ...COUNT, description: 'of the completions, as far as the providers tell' })
  readonly reasoning_tokens: number = 0;

  @ApiProperty({ ...AMOUNT, description: 'USD, of the calls that have a price' })
  readonly cost_usd: number = 0;

  @ApiProperty({ ...COUNT, description: 'calls without a price, which `cost_usd` leaves out' })
  readonly unpriced_requests: number = 0;

  @ApiProperty({ ...COUNT, description: 'calls of which the provider told no usage: counted by this service' })
  readonly estimated_requests: number = 0;
}

export class ModelUsageCard extends UsageSumsCard {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'the catalogue name; null: calls for which no model was tried',
    example: 'gpt-4.1',
  })
  readonly model: string | null = null;
}

export class UsagePeriodCard extends UsageSumsCard {
  @ApiProperty({ ...TIME, description: 'its first moment' })
  readonly start: string = '';

  @ApiProperty({ ...TIME, description: 'the first moment of the next one' })
  readonly end: string = '';

  @ApiProperty({ type: [ModelUsageCard], description: 'the same by model, the dearest first' })
  readonly models: readonly ModelUsageCard[] = [];
}

/** By UTC. */
export class UsagePeriodsCard {
  @ApiProperty({ type: UsagePeriodCard })
  readonly day: UsagePeriodCard = new UsagePeriodCard();

  @ApiProperty({ type: UsagePeriodCard })
  readonly month: UsagePeriodCard = new UsagePeriodCard();
}

/** Over all pods together; null: unlimited. */
export class CallerLimitsCard {
  @ApiProperty({ ...LIMIT, description: 'requests a minute' })
  readonly rpm: number | null = null;

  @ApiProperty({ ...LIMIT, description: 'tokens a minute' })
  readonly tpm: number | null = null;

  @ApiProperty({ ...LIMIT, description: 'calls at one time' })
  readonly concurrency: number | null = null;
}

/** What may be spent in a day or a month. */
export class BudgetCard {
  @ApiProperty({ enum: BUDGET_UNITS })
  readonly unit: BudgetUnit = 'usd';

  @ApiProperty({ enum: BUDGET_PERIODS, description: 'the present one, by UTC' })
  readonly period: BudgetPeriod = 'day';

  @ApiProperty(AMOUNT)
  readonly limit: number = 0;

  @ApiProperty({ ...AMOUNT, description: 'by calls that are over' })
  readonly spent: number = 0;

  @ApiProperty({ ...AMOUNT, description: 'for calls that are under way' })
  readonly reserved: number = 0;

  @ApiProperty({ ...AMOUNT, description: 'for calls to come' })
  readonly left: number = 0;

  @ApiProperty({ ...TIME, description: 'when it begins anew' })
  readonly resets_at: string = '';

  @ApiProperty({ description: 'calls are refused before it is exceeded; false: once it is' })
  readonly hard: boolean = false;
}

/** The answer of `GET /v1/usage`. */
export class UsageCard {
  @ApiProperty({ enum: ['usage'] })
  readonly object = 'usage';

  @ApiProperty({ example: 'acme' })
  readonly caller: string = '';

  @ApiProperty({ type: UsagePeriodsCard })
  readonly periods: UsagePeriodsCard = new UsagePeriodsCard();

  @ApiProperty({ type: CallerLimitsCard })
  readonly limits: CallerLimitsCard = new CallerLimitsCard();

  @ApiProperty({ type: [BudgetCard], description: 'of the present day and month; empty: there is none' })
  readonly budgets: readonly BudgetCard[] = [];
}
