import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsObject, IsOptional, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { ClosedBody, PageSize } from '../../http/index.js';
import { LIST_CURSOR } from './list.cursor.js';
import { IsMetadata, METADATA_SCHEMA } from './metadata.rule.js';

const LONGEST_TITLE = 512;
const LONGEST_MODEL = 256;
const LONGEST_SYSTEM = 1_000_000;
const DEFAULT_LISTED = 20;
const MOST_LISTED = 100;

/** The body of `POST /v1/conversations` and of `PUT` and `PATCH`. Null stands for none. */
@ClosedBody(true)
export class ConversationBody {
  @ApiPropertyOptional({ type: String, nullable: true, maxLength: LONGEST_TITLE, example: 'Trip to Rome' })
  @IsOptional()
  @MaxLength(LONGEST_TITLE)
  @IsString()
  readonly title?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    minLength: 1,
    maxLength: LONGEST_MODEL,
    description: 'the model of its turns, where they name no other; null: the first one of the tier',
    example: 'gpt-4.1',
  })
  @IsOptional()
  @MaxLength(LONGEST_MODEL)
  @MinLength(1)
  @IsString()
  readonly model?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    maxLength: LONGEST_SYSTEM,
    description: 'the system prompt: sent with every turn, whatever else is left out',
    example: 'You plan trips.',
  })
  @IsOptional()
  @MaxLength(LONGEST_SYSTEM)
  @IsString()
  readonly system?: string | null;

  @ApiPropertyOptional({ ...METADATA_SCHEMA, nullable: true, description: 'yours, to find it again; given whole' })
  @IsOptional()
  @IsMetadata()
  @IsObject()
  readonly metadata?: Readonly<Record<string, string>> | null;
}

/** The query of `GET /v1/conversations`. */
export class ListConversationsQuery {
  @ApiPropertyOptional({
    type: String,
    pattern: LIST_CURSOR.source,
    description: '`last_id` of the page before, or the id of a conversation: the list goes on after it',
  })
  @IsOptional()
  @Matches(LIST_CURSOR, { message: 'after must be the last_id of a page, or the id of a conversation' })
  readonly after?: string;

  @PageSize(MOST_LISTED, DEFAULT_LISTED)
  readonly limit: number = DEFAULT_LISTED;
}

/** A conversation. */
export class ConversationCard {
  @ApiProperty({ description: 'made here, or chosen with `PUT`', example: 'conv_6e8bc430c9c34ad9b1a1d9c0e2c5f7aa' })
  readonly id: string = '';

  @ApiProperty({ enum: ['conversation'] })
  readonly object = 'conversation';

  @ApiProperty({ type: String, nullable: true, example: 'Trip to Rome' })
  readonly title: string | null = null;

  @ApiProperty({ type: String, nullable: true, example: 'gpt-4.1' })
  readonly model: string | null = null;

  @ApiProperty({ type: String, nullable: true, example: 'You plan trips.' })
  readonly system: string | null = null;

  @ApiProperty({ ...METADATA_SCHEMA })
  readonly metadata: Readonly<Record<string, string>> = {};

  @ApiProperty({ type: 'integer', description: 'Unix seconds', example: 1_795_967_150 })
  readonly created_at: number = 0;

  @ApiProperty({ type: 'integer', description: 'of the last turn or change, Unix seconds', example: 1_795_967_152 })
  readonly updated_at: number = 0;

  @ApiProperty({ type: 'integer', minimum: 0, description: 'of the last message; 0: there was none yet', example: 2 })
  readonly seq: number = 0;
}

/** The answer of `GET /v1/conversations`. */
export class ConversationList {
  @ApiProperty({ enum: ['list'] })
  readonly object = 'list';

  @ApiProperty({ type: [ConversationCard], description: 'the last used one first' })
  readonly data: readonly ConversationCard[] = [];

  @ApiProperty({ description: 'there are more' })
  readonly has_more: boolean = false;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'to be given as `after`; it holds also where the conversation is used or deleted meanwhile',
    example: 'conv_6e8bc430c9c34ad9b1a1d9c0e2c5f7aa~1795967152000',
  })
  readonly last_id: string | null = null;
}

/** The answer of `DELETE /v1/conversations/{id}`. */
export class DeletedConversation {
  @ApiProperty({ example: 'conv_6e8bc430c9c34ad9b1a1d9c0e2c5f7aa' })
  readonly id: string = '';

  @ApiProperty({ enum: ['conversation.deleted'] })
  readonly object = 'conversation.deleted';

  @ApiProperty({ enum: [true] })
  readonly deleted = true;
}
