import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsPositive, IsString, MaxLength, MinLength } from 'class-validator';
import { WindowCard } from './turn.dto.js';

const LONGEST_MODEL = 256;

export const LEAVING_REASONS = ['over_budget', 'failed', 'superseded', 'unusable'] as const;
export type LeavingReason = (typeof LEAVING_REASONS)[number];

/** The query of `GET /v1/conversations/{id}/window`. */
export class WindowQuery {
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: LONGEST_MODEL,
    description: "in place of the conversation's",
  })
  @IsOptional()
  @MaxLength(LONGEST_MODEL)
  @MinLength(1)
  @IsString()
  readonly model?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: "as a turn's: kept free for the reply" })
  @IsOptional()
  @Type(() => Number)
  @IsPositive()
  @IsInt()
  readonly max_tokens?: number;
}

/** A message that would be sent. */
export class SentCard {
  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly seq: number = 1;

  @ApiProperty({ enum: ['user', 'assistant', 'tool'] })
  readonly role: 'user' | 'assistant' | 'tool' = 'user';

  @ApiProperty({ type: 'integer', minimum: 0 })
  readonly tokens: number = 0;
}

/** Neighbours in the log that would be left out for the same reason. */
export class LeftOutCard {
  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly first_seq: number = 1;

  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly last_seq: number = 1;

  @ApiProperty({
    enum: LEAVING_REASONS,
    description:
      '`over_budget`: older than what fits; `failed`: of a turn without an answer; `superseded`: answered again; `unusable`: empty, or calls and results of tools that do not fit each other',
  })
  readonly reason: LeavingReason = 'over_budget';
}

/** The answer of `GET /v1/conversations/{id}/window`. */
export class WindowPreview {
  @ApiProperty({ enum: ['conversation.window'] })
  readonly object = 'conversation.window';

  @ApiProperty({ example: 'conv_6e8bc430c9c34ad9b1a1d9c0e2c5f7aa' })
  readonly conversation_id: string = '';

  @ApiProperty({ description: 'the model that it is planned for', example: 'gpt-4.1' })
  readonly model: string = '';

  @ApiProperty({ type: 'integer', description: "the model's, tokens" })
  readonly context_window: number = 0;

  @ApiProperty({ type: 'integer', description: 'kept free for the reply, tokens' })
  readonly reserved_output: number = 0;

  @ApiProperty({ type: 'integer', description: 'of the system prompt and what primes the reply' })
  readonly fixed_tokens: number = 0;

  @ApiProperty({ type: WindowCard })
  readonly window: WindowCard = new WindowCard();

  @ApiProperty({ type: [SentCard], description: 'the oldest first' })
  readonly sent: readonly SentCard[] = [];

  @ApiProperty({ type: [LeftOutCard], description: 'the oldest first' })
  readonly left_out: readonly LeftOutCard[] = [];

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'USD of such a prompt, where the provider has nothing of it in its cache; null: it has no price',
    example: 0.000036,
  })
  readonly cost_usd: number | null = null;
}
