import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { PageSize } from '../../http/index.js';
import type { Message } from '../store/index.js';

const DEFAULT_LISTED = 100;
const MOST_LISTED = 1_000;

/** A message's `seq`, or its id, which ends in it. */
export const MESSAGE_CURSOR = /^(?:msg_[\w-]{1,64}_)?\d{1,15}$/;

export const MESSAGE_STATUSES = [
  'pending',
  'complete',
  'incomplete',
  'failed',
] as const satisfies readonly Message['status'][];

/** The query of `GET /v1/conversations/{id}/messages`. */
export class ListMessagesQuery {
  @ApiPropertyOptional({
    type: String,
    pattern: MESSAGE_CURSOR.source,
    description: '`seq` or id of the last message that is known',
  })
  @IsOptional()
  @Matches(MESSAGE_CURSOR, { message: 'after must be the seq or the id of a message' })
  readonly after?: string;

  @PageSize(MOST_LISTED, DEFAULT_LISTED, 'how many at most; fewer come where they are long')
  readonly limit: number = DEFAULT_LISTED;
}

/** A message of a conversation. */
export class MessageObject {
  @ApiProperty({ example: 'msg_kPqv0a3nS2u3bJ5mQm0s9g_2' })
  readonly id: string = '';

  @ApiProperty({ enum: ['conversation.message'] })
  readonly object = 'conversation.message';

  @ApiProperty({ type: 'integer', minimum: 1, description: 'its place in the log: without gaps' })
  readonly seq: number = 1;

  @ApiProperty({ enum: ['user', 'assistant', 'tool'] satisfies readonly Message['role'][] })
  readonly role: Message['role'] = 'user';

  @ApiProperty({
    description: 'text, or parts; null where an assistant has only called tools',
    nullable: true,
    oneOf: [
      { type: 'string', nullable: true },
      { type: 'array', items: { $ref: getSchemaPath('ContentPart') } },
    ],
  })
  readonly content: unknown = null;

  @ApiPropertyOptional({
    type: 'array',
    items: { $ref: getSchemaPath('ToolCall') },
    description: 'what an assistant calls',
  })
  readonly tool_calls?: unknown;

  @ApiPropertyOptional({ type: String, description: "of a tool's message: the call that it answers" })
  readonly tool_call_id?: string;

  @ApiProperty({
    enum: MESSAGE_STATUSES,
    description:
      '`pending`: its turn is running, and it will have this place in the log; `incomplete`: cut off or cancelled, and kept as it was seen; `failed`: of a turn without an answer, shown and never sent to a model',
  })
  readonly status: Message['status'] = 'complete';

  @ApiProperty({ description: 'a later turn has answered again: it is shown, and not sent to a model' })
  readonly superseded: boolean = false;

  @ApiProperty({ example: 'turn_kPqv0a3nS2u3bJ5mQm0s9g_1' })
  readonly turn_id: string = '';

  @ApiProperty({ type: String, nullable: true, description: 'who wrote it', example: 'gpt-4.1' })
  readonly model: string | null = null;

  @ApiProperty({ type: String, nullable: true, description: 'why the model ended: `stop`, `length`, …' })
  readonly finish_reason: string | null = null;

  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description: 'what the provider counted',
    selfRequired: true,
  })
  readonly usage: Readonly<Record<string, unknown>> | null = null;

  @ApiProperty({ type: 'integer', description: 'Unix seconds' })
  readonly created_at: number = 0;
}

/** The answer of `GET /v1/conversations/{id}/messages`. */
export class MessageObjectList {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ type: [MessageObject], description: 'by `seq`, the oldest first' })
  readonly data: readonly MessageObject[] = [];

  @ApiProperty()
  readonly has_more: boolean = false;

  @ApiProperty({ type: String, nullable: true, description: 'to be given as `after`' })
  readonly last_id: string | null = null;
}
