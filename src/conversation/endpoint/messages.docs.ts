import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { headerReferences } from '../../http/index.js';
import { ConversationCard } from './conversation.dto.js';
import { CONVERSATION_EXAMPLE, EXPORT_EXAMPLE, MESSAGES_EXAMPLE, WINDOW_EXAMPLE } from './conversation.examples.js';
import {
  BUSY,
  CHANGED,
  ConversationErrors,
  ConversationParam,
  IfMatchHeader,
  MISSING,
  OVERFLOW,
} from './documented.errors.js';
import { MessageObjectList } from './message.dto.js';
import { WindowPreview } from './window.dto.js';

const BAD_LIMIT = { message: 'limit: limit must not be less than 1', param: 'limit' };
const BAD_MATCH = { message: 'If-Match must be the etag of the conversation, or *', param: 'If-Match' };

export function ListMessagesDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'listMessages',
      summary: 'The whole log, also what is not sent to models any more',
      description: 'The messages of a running turn come last, as `pending`.',
    }),
    ConversationParam(),
    ApiOkResponse({ type: MessageObjectList, description: 'A page of it.', example: MESSAGES_EXAMPLE }),
    ConversationErrors({ ...MISSING, invalid_request: BAD_LIMIT }),
  );
}

export function ClearMessagesDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'clearMessages',
      summary: 'Deletes the messages and keeps the conversation',
      description: '`seq` goes on where it was.',
    }),
    ConversationParam(),
    IfMatchHeader(),
    ApiOkResponse({
      type: ConversationCard,
      description: 'The conversation, whose log is empty now.',
      headers: headerReferences(['etag']),
      example: CONVERSATION_EXAMPLE,
    }),
    ConversationErrors({ ...MISSING, ...CHANGED, ...BUSY, invalid_request: BAD_MATCH }),
  );
}

export function ExportConversationDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'exportConversation', summary: 'All of a conversation as JSON lines' }),
    ConversationParam(),
    ApiOkResponse({
      description: 'The conversation, then each of its messages, on a line of its own.',
      content: {
        'application/x-ndjson': {
          schema: { type: 'string', description: 'A `ConversationCard`, then `MessageObject`s.' },
          example: EXPORT_EXAMPLE,
        },
      },
    }),
    ConversationErrors(MISSING),
  );
}

export function PreviewWindowDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'previewWindow',
      summary: 'What would be sent now, what is left out and why, and what it costs',
      description: 'Without a new message; nobody is called and nothing is changed.',
    }),
    ConversationParam(),
    ApiOkResponse({
      type: WindowPreview,
      description: 'The window as a turn would begin with it.',
      example: WINDOW_EXAMPLE,
    }),
    ConversationErrors({
      ...MISSING,
      ...OVERFLOW,
      invalid_request: { message: 'max_tokens: max_tokens must be a positive number', param: 'max_tokens' },
      model_not_found: { message: 'the model "gpt-9" does not exist', param: 'model' },
    }),
  );
}
