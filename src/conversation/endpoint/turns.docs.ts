import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiExtension,
  ApiExtraModels,
  ApiHeaders,
  ApiOkResponse,
  ApiOperation,
  getSchemaPath,
} from '@nestjs/swagger';
import { headerReferences } from '../../http/index.js';
import { EVENTS_EXAMPLE, TURN_EXAMPLE } from './conversation.examples.js';
import {
  ConversationErrors,
  ConversationParam,
  MISSING,
  OF_TURNS,
  TurnHeaders,
  TurnParam,
} from './documented.errors.js';
import { AnswerBody, TurnBody, TurnCard, UserChatBody } from './turn.dto.js';

const DESCRIPTION = `The messages are acknowledged before the model is called, and the turn goes on when its reader leaves: \`GET …/turns/{turn}\` tells it, \`…/events\` goes on reading it, \`…/cancel\` stops it. One turn of a conversation runs at a time.

With \`stream: true\` the answer is server-sent events, each with an \`id\` to go on after: \`turn\` with the turn, \`delta\`s with a \`ChatCompletionChunk\`, then \`done\` with the turn, or \`error\` with the error and the turn. Without it the turn is told when it is over; where there is no reply, its error.

Members that are not listed (\`temperature\`, \`tools\`, …) go to the completion as they are.`;

const TOOLS = {
  tool_results: [{ tool_call_id: 'call_1', content: '21 degrees' }],
};

export function CreateTurnDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({ operationId: 'createTurn', summary: 'One user message, and its reply', description: DESCRIPTION }),
    ConversationParam(),
    TurnHeaders(),
    ApiBody({
      type: TurnBody,
      examples: {
        text: { summary: 'Text', value: { content: 'Hello!' } },
        stream: { summary: 'As events', value: { content: 'Hello!', stream: true, temperature: 0.2 } },
        tools: { summary: 'What tools answered', value: TOOLS },
      },
    }),
    Told(),
    ConversationErrors(OF_TURNS, true),
  );
}

export function RegenerateTurnDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'regenerateTurn',
      summary: 'Answers the last turn again',
      description:
        'With the same messages and what it was asked with; the body may say otherwise. The earlier reply is still shown, and not sent to a model any more.',
    }),
    TurnParam(),
    TurnHeaders(),
    ApiBody({
      type: AnswerBody,
      examples: {
        same: { summary: 'As before', value: {} },
        other: { summary: 'By another model', value: { model: 'claude-sonnet-4.5' } },
      },
    }),
    Told(),
    ConversationErrors(
      { ...OF_TURNS, conflict: { message: 'only the last turn of a conversation can be answered again' } },
      true,
    ),
  );
}

export function UserChatDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'chat',
      summary: 'One message of a user, and its reply',
      description: 'Each user of a caller has one conversation, made with the first message. Else as a turn.',
    }),
    TurnHeaders(),
    ApiBody({
      type: UserChatBody,
      examples: { text: { summary: 'A message', value: { user_id: 'user-4711', message: 'Hello!' } } },
    }),
    Told(),
    ConversationErrors(OF_TURNS, true),
  );
}

export function RetrieveTurnDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'retrieveTurn',
      summary: 'One turn',
      description: 'One whose process is gone is ended on the way, as `incomplete`.',
    }),
    TurnParam(),
    ApiOkResponse({ type: TurnCard, description: 'The turn as it is.', example: TURN_EXAMPLE }),
    ConversationErrors(MISSING),
  );
}

export function CancelTurnDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'cancelTurn',
      summary: 'Stops a turn',
      description: 'What has come of the reply stays, as `incomplete`. One that is over is told as it is.',
    }),
    TurnParam(),
    ApiOkResponse({ type: TurnCard, description: 'The turn, over but for rare cases.', example: TURN_EXAMPLE }),
    ConversationErrors(MISSING),
  );
}

export function TurnEventsDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'readTurnEvents',
      summary: 'A turn as events, from wherever its reader left off',
      description:
        'Kept for ten minutes after its end; then the answer is one `done`, or `error`, from the log. Any pod will do.',
    }),
    TurnParam(),
    ApiHeaders([
      {
        name: 'last-event-id',
        required: false,
        description: 'Id of the last event that is known: it goes on with the next one.',
        schema: { type: 'string', pattern: '^\\d{1,15}$' },
        example: '17',
      },
    ]),
    ApiOkResponse({
      description: 'The events as they come.',
      content: { 'text/event-stream': { schema: EVENTS, example: EVENTS_EXAMPLE } },
    }),
    EventData(),
    ConversationErrors({
      ...MISSING,
      invalid_request: { message: 'Last-Event-ID must be the id of an event of this turn', param: 'Last-Event-ID' },
    }),
  );
}

const EVENTS = {
  type: 'string',
  description: 'Server-sent events; their data: `TurnCard`, `ChatCompletionChunk`, or `Error`.',
} as const;

function Told(): MethodDecorator {
  return applyDecorators(
    ApiExtraModels(TurnCard),
    ApiOkResponse({
      description: 'The turn when it is over; with `stream: true` its events as they come.',
      headers: headerReferences(['etag']),
      content: {
        'application/json': { schema: { $ref: getSchemaPath(TurnCard) }, example: TURN_EXAMPLE },
        'text/event-stream': { schema: EVENTS, example: EVENTS_EXAMPLE },
      },
    }),
    EventData(),
  );
}

/** OpenAPI 3.0 has no words for what the events of a stream hold. */
function EventData(): MethodDecorator {
  return ApiExtension('x-event-data', {
    oneOf: [
      { $ref: getSchemaPath(TurnCard) },
      { $ref: getSchemaPath('ChatCompletionChunk') },
      { $ref: getSchemaPath('Error') },
    ],
  });
}
