import { ApiProperty } from '@nestjs/swagger';
import { CALL_ENDS, type CallEnd } from './ledger.entry.js';

const COUNT = { type: 'integer', minimum: 0 } as const;
const NAME = { type: String, nullable: true } as const;

/** A line of `GET /v1/usage/ledger`: one call, with all its attempts. */
export class LedgerLine {
  @ApiProperty({ description: 'its place in the ledger, for `after`', example: '1764417600000-0' })
  readonly id: string = '';

  @ApiProperty({ enum: ['usage.entry'] })
  readonly object = 'usage.entry';

  @ApiProperty({ type: String, format: 'date-time', description: 'when the call ended' })
  readonly created_at: string = '';

  @ApiProperty({ example: 'acme' })
  readonly caller: string = '';

  @ApiProperty({ description: 'as `x-request-id`', example: 'req-2f1c' })
  readonly request_id: string = '';

  @ApiProperty({ description: 'as the request names it', example: 'gpt-4.1-2025-04-14' })
  readonly requested_model: string = '';

  @ApiProperty({ ...NAME, description: 'who answered, or was tried last; null: nobody was', example: 'gpt-4.1' })
  readonly model: string | null = null;

  @ApiProperty({ ...NAME, example: 'openai' })
  readonly provider: string | null = null;

  @ApiProperty({
    ...NAME,
    description: "the provider's key, and its name for the model",
    example: 'openai/gpt-4.1-2025-04-14',
  })
  readonly deployment: string | null = null;

  @ApiProperty({
    enum: CALL_ENDS,
    description:
      '`complete`; `partial`: it broke off; `failed`: it got no answer; `hit`: from the cache; `joined`: together with an identical call',
  })
  readonly outcome: CallEnd = 'complete';

  @ApiProperty({ ...NAME, description: 'of the error', example: null })
  readonly code: string | null = null;

  @ApiProperty({ ...COUNT, description: 'that are billed' })
  readonly prompt_tokens: number = 0;

  @ApiProperty(COUNT)
  readonly cached_tokens: number = 0;

  @ApiProperty(COUNT)
  readonly completion_tokens: number = 0;

  @ApiProperty(COUNT)
  readonly reasoning_tokens: number = 0;

  @ApiProperty({ type: 'number', minimum: 0, nullable: true, description: 'null: unpriced', example: 0.000036 })
  readonly cost_usd: number | null = null;

  @ApiProperty({ description: 'the provider told no usage: tokens and cost are by our own count' })
  readonly estimated: boolean = false;

  @ApiProperty({ ...COUNT, description: 'calls of providers' })
  readonly attempts: number = 0;

  @ApiProperty({ ...NAME, description: 'SHA-256 of the `Idempotency-Key`, hex', example: null })
  readonly idempotency_key_sha256: string | null = null;
}
