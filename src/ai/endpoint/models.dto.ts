import { ApiProperty } from '@nestjs/swagger';

/** USD per million tokens. */
export interface ModelPricing {
  readonly input: number;
  /** Of the prompt's tokens those that the provider had cached. */
  readonly cached_input: number;
  /** Of the prompt's tokens those that it writes to its cache; left out: at the price of input. */
  readonly cache_write?: number;
  /** Of them those that it keeps for an hour; left out: at the price of the others. */
  readonly cache_write_1h?: number;
  readonly output: number;
}

/** OpenAI's model object, and what this service knows of the model. */
export class ModelCard {
  @ApiProperty({ description: 'the catalogue name', example: 'gpt-4.1' })
  readonly id: string = '';

  @ApiProperty({ enum: ['model'] })
  readonly object = 'model';

  @ApiProperty({ type: 'integer', description: 'Unix seconds', example: 1_744_588_800 })
  readonly created: number = 0;

  @ApiProperty({ example: 'openai' })
  readonly owned_by: string = '';

  @ApiProperty({ description: 'other names that requests may use', example: ['gpt-4.1-2025-04-14'], type: [String] })
  readonly aliases: readonly string[] = [];

  @ApiProperty({ type: 'integer', description: 'tokens of prompt and answer', example: 1_047_576 })
  readonly context_window: number = 0;

  @ApiProperty({ type: 'integer', description: 'tokens of one answer', example: 32_768 })
  readonly max_output_tokens: number = 0;

  @ApiProperty({
    type: 'object',
    nullable: true,
    description: 'USD per million tokens, of the deployment that would answer now; null: unpriced, or none is left',
    selfRequired: true,
    required: ['input', 'cached_input', 'output'],
    properties: {
      input: { type: 'number', description: 'of the prompt', example: 2 },
      cached_input: { type: 'number', description: 'of the prompt, where the provider had it cached', example: 0.5 },
      cache_write: {
        type: 'number',
        description: 'of the prompt, where the provider writes it to its cache; left out: at the price of input',
      },
      cache_write_1h: {
        type: 'number',
        description:
          'of the prompt, where it writes it to its cache for an hour; left out: at the price of other writes',
      },
      output: { type: 'number', description: 'of the answer', example: 8 },
    },
  })
  readonly pricing: ModelPricing | null = null;

  @ApiProperty({ description: "part of this caller's tier", example: true })
  readonly allowed: boolean = false;

  @ApiProperty({
    type: String,
    format: 'date',
    nullable: true,
    description:
      'the first day (UTC) on which the last deployment in reach is no longer there, and requests are answered 410; null: no end is known',
    example: '2027-01-14',
  })
  readonly shutdown_date: string | null = null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'the model that the vendor names in its place',
    example: 'gpt-6-luna',
  })
  readonly successor: string | null = null;
}

/** OpenAI's list shape. */
export class ModelList {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ type: [ModelCard] })
  readonly data: readonly ModelCard[] = [];
}

/** A model as `GET /v1/models` may tell it. */
export const MODEL_EXAMPLE: ModelCard = {
  id: 'gpt-4.1',
  object: 'model',
  created: 1_744_588_800,
  owned_by: 'openai',
  aliases: ['gpt-4.1-2025-04-14'],
  context_window: 1_047_576,
  max_output_tokens: 32_768,
  pricing: { input: 2, cached_input: 0.5, output: 8 },
  allowed: true,
  shutdown_date: '2027-01-14',
  successor: 'gpt-6-luna',
};
