import { ApiProperty } from '@nestjs/swagger';

/** USD per million tokens. */
export class ModelPricing {
  @ApiProperty({ description: 'USD per million prompt tokens', example: 2 })
  readonly input: number = 0;

  @ApiProperty({ description: 'USD per million prompt tokens that the provider had cached', example: 0.5 })
  readonly cached_input: number = 0;

  @ApiProperty({ description: 'USD per million completion tokens', example: 8 })
  readonly output: number = 0;
}

/** OpenAI's model object, and what this service knows of the model. */
export class ModelCard {
  @ApiProperty({ example: 'gpt-4.1' })
  readonly id: string = '';

  @ApiProperty({ enum: ['model'] })
  readonly object = 'model';

  @ApiProperty({ description: 'Unix seconds', example: 1_744_588_800 })
  readonly created: number = 0;

  @ApiProperty({ example: 'openai' })
  readonly owned_by: string = '';

  @ApiProperty({ description: 'other names that requests may use', example: ['gpt-4.1-2025-04-14'], type: [String] })
  readonly aliases: readonly string[] = [];

  @ApiProperty({ description: 'tokens of prompt and answer', example: 1_047_576 })
  readonly context_window: number = 0;

  @ApiProperty({ description: 'tokens of one answer', example: 32_768 })
  readonly max_output_tokens: number = 0;

  @ApiProperty({
    type: ModelPricing,
    nullable: true,
    description: 'of the deployment that would answer now; null: unpriced',
  })
  readonly pricing: ModelPricing | null = null;

  @ApiProperty({ description: "part of this caller's tier", example: true })
  readonly allowed: boolean = false;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'the last day of the last deployment in reach',
    example: null,
  })
  readonly shutdown_date: string | null = null;

  @ApiProperty({ type: String, nullable: true, description: 'what the vendor names in its place', example: null })
  readonly successor: string | null = null;
}

/** OpenAI's list shape. */
export class ModelList {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ type: [ModelCard] })
  readonly data: readonly ModelCard[] = [];
}
