import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import {
  Equals,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsPositive,
  IsString,
  MaxLength,
  MinLength,
} from 'class-validator';
import type { TurnStatus } from '../store/index.js';
import type { WindowSummary } from '../turn/turn.planner.js';
import { IsWellFormed } from './metadata.rule.js';
import { MessageObject } from './message.dto.js';

const LONGEST_NAME = 256;
const BUSY = ['fail', 'wait'] as const;

export const TURN_STATUSES = ['running', 'complete', 'incomplete', 'failed'] as const satisfies readonly TurnStatus[];

/** What each request for an answer may say. Members that are not listed go to the completion. */
export class AnswerBody {
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    minLength: 1,
    maxLength: LONGEST_NAME,
    example: 'gpt-4.1',
    description: "in place of the conversation's model",
  })
  @IsOptional()
  @MaxLength(LONGEST_NAME)
  @MinLength(1)
  @IsString()
  readonly model?: string | null;

  @ApiPropertyOptional({ type: Boolean, nullable: true, default: false, description: 'answer with server-sent events' })
  @IsOptional()
  @IsBoolean()
  readonly stream?: boolean | null;

  @ApiPropertyOptional({ type: 'integer', nullable: true, minimum: 1, description: 'tokens of the answer at most' })
  @IsOptional()
  @IsPositive()
  @IsInt()
  readonly max_tokens?: number | null;

  @ApiPropertyOptional({ type: 'integer', nullable: true, minimum: 1, description: 'the same, reasoning included' })
  @IsOptional()
  @IsPositive()
  @IsInt()
  readonly max_completion_tokens?: number | null;

  @ApiPropertyOptional({ type: 'integer', nullable: true, enum: [1], description: 'a turn has one answer' })
  @IsOptional()
  @Equals(1, { message: 'n must be 1: a turn has one answer' })
  readonly n?: number | null;
}

/** The body of `POST /v1/conversations/{id}/turns`. */
export class TurnBody extends AnswerBody {
  @ApiPropertyOptional({
    nullable: true,
    description: 'what the user says: text, or content parts',
    oneOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', minItems: 1, items: { $ref: getSchemaPath('ContentPart') } },
    ],
  })
  readonly content?: unknown;

  @ApiPropertyOptional({
    type: 'array',
    nullable: true,
    minItems: 1,
    description: 'answers to all the tool calls of the last reply, in place of what the user says or before it',
    items: {
      type: 'object',
      required: ['tool_call_id', 'content'],
      properties: {
        tool_call_id: { type: 'string', example: 'call_1' },
        content: {
          oneOf: [{ type: 'string' }, { type: 'array', minItems: 1, items: { $ref: getSchemaPath('TextPart') } }],
        },
      },
    },
  })
  readonly tool_results?: unknown;

  @Equals(undefined, { message: 'messages are kept by the conversation: send content alone' })
  readonly messages?: undefined;
}

/** The body of `POST /v1/chat`. */
export class UserChatBody extends AnswerBody {
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'your name for the user: each has one conversation',
    example: 'user-4711',
  })
  @IsWellFormed()
  @MaxLength(LONGEST_NAME)
  @MinLength(1)
  @IsString()
  readonly user_id: string = '';

  @ApiProperty({ minLength: 1, description: 'what the user says', example: 'Hello!' })
  @IsString()
  readonly message: string = '';

  @Equals(undefined, { message: 'messages are kept by the conversation: send message alone' })
  readonly messages?: undefined;
}

/** The query of requests for an answer. */
export class TurnQuery {
  @ApiPropertyOptional({
    enum: BUSY,
    default: 'fail',
    description: 'while another turn of the conversation runs: `fail` with 409, or `wait` for it; few may wait',
  })
  @IsOptional()
  @IsIn(BUSY)
  readonly onBusy: (typeof BUSY)[number] = 'fail';
}

/** What of a conversation was sent to the model. */
export class WindowCard implements WindowSummary {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: '`seq` of the first message that is sent; null: none is',
  })
  readonly firstSeq: number | null = null;

  @ApiProperty({ type: 'integer', nullable: true })
  readonly lastSeq: number | null = null;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'how many are sent' })
  readonly messages: number = 0;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'of the whole prompt, by our count' })
  readonly tokens: number = 0;

  @ApiProperty({ type: 'integer', description: 'the most that the prompt may take' })
  readonly budget: number = 0;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'messages of the log that are not sent' })
  readonly droppedMessages: number = 0;

  @ApiProperty({
    enum: ['exact', 'estimate'] satisfies readonly WindowSummary['counting'][],
    description: '`estimate`: rather too many',
  })
  readonly counting: WindowSummary['counting'] = 'exact';
}

/** One user message, or results of tools, and the reply. */
export class TurnCard {
  @ApiProperty({ example: 'turn_kPqv0a3nS2u3bJ5mQm0s9g_1' })
  readonly id: string = '';

  @ApiProperty({ enum: ['turn'] })
  readonly object = 'turn';

  @ApiProperty({ example: 'conv_6e8bc430c9c34ad9b1a1d9c0e2c5f7aa' })
  readonly conversation_id: string = '';

  @ApiProperty({
    enum: TURN_STATUSES,
    description: '`incomplete`: the reply was cut off or cancelled; `failed`: there is none',
  })
  readonly status: TurnStatus = 'running';

  @ApiProperty({ description: 'as it was asked for', example: 'gpt-4.1' })
  readonly model: string = '';

  @ApiProperty({ type: MessageObject, nullable: true, description: 'null: results of tools alone were sent' })
  readonly user: MessageObject | null = null;

  @ApiProperty({ type: MessageObject, nullable: true, description: 'null while it is running' })
  readonly assistant: MessageObject | null = null;

  @ApiPropertyOptional({ type: [MessageObject], description: 'what tools answered, before the reply' })
  readonly tool_results?: readonly MessageObject[];

  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description: 'what the provider counted',
    selfRequired: true,
  })
  readonly usage: Readonly<Record<string, unknown>> | null = null;

  @ApiProperty({ type: WindowCard, nullable: true, description: 'null while it is running' })
  readonly window: WindowCard | null = null;

  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description:
      "why the reply is not whole; null: it is, it was cancelled, or its `finish_reason` says why. As an error answer's `error`",
    selfRequired: true,
  })
  readonly error: Readonly<Record<string, unknown>> | null = null;

  @ApiProperty({ type: 'integer', description: 'Unix seconds' })
  readonly created_at: number = 0;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Unix seconds' })
  readonly ended_at: number | null = null;
}
