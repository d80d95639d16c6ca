import { applyDecorators } from '@nestjs/common';
import { ApiHeaders, ApiParam, ApiQuery } from '@nestjs/swagger';
import { ApiErrors, type DocumentedErrors } from '../../http/index.js';

const OF_ALL: DocumentedErrors = {
  insufficient_scope: { message: 'this API key lacks the scope "chat"' },
  store_unavailable: { message: '' },
};

const OF_BODIES: DocumentedErrors = {
  request_timeout: { message: 'the request took too long to arrive' },
  request_too_large: { message: 'the request body is too large: the limit is 33554432 bytes' },
  unsupported_media_type: { message: 'the content-type must be application/json: it is missing' },
};

export const MISSING: DocumentedErrors = { not_found: { message: 'there is no such conversation' } };
export const CHANGED: DocumentedErrors = {
  conversation_changed: { message: 'the conversation has changed since: get it again', param: 'If-Match' },
};

const WINDOW_FACTS = {
  model: 'gpt-4.1',
  contextWindow: 1_047_576,
  reservedOutput: 32_768,
  budget: 890_439,
  fixedTokens: 10,
  messageTokens: 890_430,
  overBy: 1,
  counting: 'exact',
} as const;

const NO_ROOM = {
  ...WINDOW_FACTS,
  fixedTokens: 890_440,
  messageTokens: 0,
} as const;

/** What does not fit into a model's window. */
export const OVERFLOW: DocumentedErrors = {
  context_window_exceeded: {
    message: 'the message is 1 tokens too long for gpt-4.1: it takes 890430 of 890439',
    param: 'content',
    details: WINDOW_FACTS,
  },
  unprocessable: {
    message: 'the system prompt and the tools take 890440 tokens; gpt-4.1 has room for 890439',
    param: 'system',
    details: NO_ROOM,
  },
};

export const BUSY: DocumentedErrors = {
  turn_in_progress: {
    message: 'turn turn_kPqv0a3nS2u3bJ5mQm0s9g_1 of this conversation is running',
    details: { turn_id: 'turn_kPqv0a3nS2u3bJ5mQm0s9g_1' },
  },
};

/** What a turn may be refused with, and what it may fail with. */
export const OF_TURNS: DocumentedErrors = {
  ...MISSING,
  ...CHANGED,
  ...OVERFLOW,
  ...BUSY,
  invalid_request: { message: 'content must say something: it is empty', param: 'content' },
  model_not_allowed: { message: 'the model gpt-4.1 is not part of the tier free', param: 'model' },
  model_not_found: { message: 'the model "gpt-9" does not exist', param: 'model' },
  idempotency_mismatch: { message: 'this Idempotency-Key was used for another request', param: 'Idempotency-Key' },
  lock_lost: { message: '' },
  model_retired: {
    message: 'the model gpt-4.1 was shut down on 2027-01-14; its vendor names gpt-6-luna as successor',
    param: 'model',
  },
  rate_limit_exceeded: { message: 'openai is at its rate limit' },
  insufficient_quota: { message: 'the quota bought from openai is used up' },
  upstream_error: { message: 'the model gave no answer' },
  upstream_auth: { message: "openai refused this service's credentials" },
  overloaded: { message: 'gpt-4.1 at openai has failed lately and is left alone for a while' },
  timeout: { message: 'the time this turn had is over' },
};

/** Documents the errors of an operation on conversations. */
export function ConversationErrors(errors: DocumentedErrors, hasBody = false): MethodDecorator {
  return ApiErrors({ ...OF_ALL, ...(hasBody && OF_BODIES), ...errors });
}

export function ConversationParam(): MethodDecorator {
  return ApiParam({
    name: 'id',
    type: String,
    description: 'of the conversation',
    example: 'conv_6e8bc430c9c34ad9b1a1d9c0e2c5f7aa',
  });
}

export function TurnParam(): MethodDecorator {
  return applyDecorators(
    ConversationParam(),
    ApiParam({ name: 'turn', type: String, description: 'id of the turn', example: 'turn_kPqv0a3nS2u3bJ5mQm0s9g_1' }),
  );
}

const IF_MATCH = {
  name: 'if-match',
  required: false,
  description: "The conversation's `etag`: where it is at another one by now, nothing is done and 412 answered.",
  schema: { type: 'string', pattern: '^(?:"\\d{1,15}-\\d{1,15}"|\\*)$' },
  example: '"2-1"',
};

const IDEMPOTENCY_KEY = {
  name: 'idempotency-key',
  required: false,
  description:
    'Names this turn, for a day: asked again with it, the same turn is told, running, whole or failed, and no model is called; one that was refused for lack of room or quota (429, 503) is tried anew. With another body: 422.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: '0b9c1c64-51a4-4c0e-8d3b-3a1c5f1c9f10',
};

export function IfMatchHeader(): MethodDecorator {
  return ApiHeaders([IF_MATCH]);
}

/** What every request for an answer may bring. */
export function TurnHeaders(): MethodDecorator {
  return applyDecorators(
    ApiHeaders([IF_MATCH, IDEMPOTENCY_KEY]),
    ApiQuery({
      name: 'onBusy',
      required: false,
      description: 'While another turn of the conversation runs: `fail` with 409, or `wait` for it; few may wait.',
      schema: { type: 'string', enum: ['fail', 'wait'], default: 'fail' },
    }),
  );
}
