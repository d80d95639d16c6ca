import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { headerReferences } from '../../http/index.js';
import { ConversationBody, ConversationCard, ConversationList, DeletedConversation } from './conversation.dto.js';
import { CONVERSATION_EXAMPLE, CONVERSATIONS_EXAMPLE } from './conversation.examples.js';
import { CHANGED, ConversationErrors, ConversationParam, IfMatchHeader, MISSING } from './documented.errors.js';

const BODY = { title: 'Trip to Rome', model: 'gpt-4.1', system: 'You plan trips.', metadata: { user: '4711' } };
const UNKNOWN_MODEL = { message: 'the model "gpt-9" does not exist', param: 'model' };
const FAULTY = { message: 'title: title must be a string', param: 'title' };

export function CreateConversationDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'createConversation', summary: 'A new conversation, without messages' }),
    Body({ new: { summary: 'A conversation of a user', value: BODY }, bare: { summary: 'Nothing said', value: {} } }),
    Told('The conversation.'),
    ConversationErrors({ invalid_request: FAULTY, model_not_found: UNKNOWN_MODEL }, true),
  );
}

export function ChooseConversationDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'chooseConversation',
      summary: 'A conversation under an id of your choice',
      description: 'One that is there already is told as it is: asked twice, it is made once.',
    }),
    ConversationParam(),
    Body({ new: { summary: 'A conversation of a user', value: BODY } }),
    Told('The conversation, new or as it is.'),
    ConversationErrors({ invalid_request: FAULTY, model_not_found: UNKNOWN_MODEL }, true),
  );
}

export function ListConversationsDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'listConversations', summary: "The caller's conversations" }),
    ApiOkResponse({ type: ConversationList, description: 'A page of them.', example: CONVERSATIONS_EXAMPLE }),
    ConversationErrors({ invalid_request: { message: 'limit: limit must not be less than 1', param: 'limit' } }),
  );
}

export function RetrieveConversationDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'retrieveConversation', summary: 'One conversation' }),
    ConversationParam(),
    Told('The conversation.'),
    ConversationErrors(MISSING),
  );
}

export function ChangeConversationDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'changeConversation',
      summary: 'Changes what is given, and nothing else',
      description: 'Null takes a member away. A turn that runs goes on with what it began with.',
    }),
    ConversationParam(),
    IfMatchHeader(),
    Body({ rename: { summary: 'Another title', value: { title: 'Rome in May' } } }),
    Told('The conversation as it is now.'),
    ConversationErrors({ ...MISSING, ...CHANGED, invalid_request: FAULTY, model_not_found: UNKNOWN_MODEL }, true),
  );
}

export function DeleteConversationDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'deleteConversation',
      summary: 'Deletes a conversation with its messages',
      description: 'A turn that runs is stopped.',
    }),
    ConversationParam(),
    IfMatchHeader(),
    ApiOkResponse({
      type: DeletedConversation,
      description: 'It is gone.',
      example: { id: CONVERSATION_EXAMPLE.id, object: 'conversation.deleted', deleted: true },
    }),
    ConversationErrors({
      ...MISSING,
      ...CHANGED,
      invalid_request: { message: 'If-Match must be the etag of the conversation, or *', param: 'If-Match' },
    }),
  );
}

function Body(
  examples: Readonly<Record<string, { readonly summary: string; readonly value: object }>>,
): MethodDecorator {
  return ApiBody({ type: ConversationBody, examples: { ...examples } });
}

function Told(description: string): MethodDecorator {
  return ApiOkResponse({
    type: ConversationCard,
    description,
    headers: headerReferences(['etag']),
    example: CONVERSATION_EXAMPLE,
  });
}
