import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiExtension, ApiHeaders, ApiOkResponse, ApiOperation, getSchemaPath } from '@nestjs/swagger';
import { ApiErrors, type DocumentedErrors, headerReferences } from '../../http/index.js';
import { BATCH_EXAMPLE, BATCH_EVENTS_EXAMPLE, BATCH_REQUEST_EXAMPLE } from './batch.examples.js';

const DESCRIPTION = `Each item is validated, routed, limited, cached and billed as it would be alone; one that fails fails alone, and the answer is 200. The items wait for room as calls of one caller do: a batch takes nothing from others.

An item has the deadline of a request of its own, from when its turn comes. With \`x-coordinator-timeout-ms\` the whole batch has that time: the items that are not over by then fail with \`timeout\`, and what was answered is told. When the client leaves, the items under way are aborted and no others are begun.

With an \`Idempotency-Key\` each item has a key of its own, made of that one and its place. The same batch sent again is given the answers that there are, and does the rest; an item that has changed fails with \`idempotency_mismatch\`.

With \`Accept: text/event-stream\` the answer is a stream of server-sent events: a \`progress\` event for each item that is over, whose data is a \`ChatCompletionBatchProgress\`, then \`done\`, whose data is the \`ChatCompletionBatch\`. Lines that begin with a colon keep the connection alive. For batches that take longer than proxies wait for an answer this is the way.`;

const REQUEST_HEADERS = [
  {
    name: 'x-coordinator-strict',
    required: false,
    description: '`true`: no model but those that the items name.',
    schema: { type: 'string', enum: ['true', 'false'], default: 'false' },
  },
  {
    name: 'x-coordinator-timeout-ms',
    required: false,
    description: 'The time that the whole batch has, ms; without it each item has its own.',
    schema: { type: 'integer', minimum: 1 },
    example: 300_000,
  },
  {
    name: 'idempotency-key',
    required: false,
    description: 'Answers each item once, however often the batch is sent.',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    example: 'nightly-2026-11-29',
  },
];

const ERRORS: DocumentedErrors = {
  invalid_request: {
    message: 'requests: requests must contain no more than 1000 elements',
    param: 'requests',
  },
  insufficient_scope: { message: 'this API key lacks the scope "chat"' },
  request_timeout: { message: 'the request took too long to arrive' },
  request_too_large: { message: 'the request body is too large: the limit is 33554432 bytes' },
  unsupported_media_type: { message: 'the content-type must be application/json: it is missing' },
};

/** Documents `POST /v1/chat/completions/batch`. */
export function BatchDocs(): MethodDecorator {
  return applyDecorators(
    ApiOperation({
      operationId: 'createChatCompletionBatch',
      summary: 'Many chat completions at once, as JSON or with their progress as server-sent events',
      description: DESCRIPTION,
    }),
    ApiHeaders(REQUEST_HEADERS),
    ApiBody({
      schema: { $ref: getSchemaPath('ChatCompletionBatchRequest') },
      examples: { batch: { summary: 'Two questions', value: BATCH_REQUEST_EXAMPLE } },
    }),
    ApiExtension('x-event-data', {
      oneOf: ['ChatCompletionBatchProgress', 'ChatCompletionBatch'].map((name) => ({ $ref: getSchemaPath(name) })),
    }),
    ApiOkResponse({
      description: 'What became of each item. As server-sent events with `Accept: text/event-stream`.',
      headers: headerReferences(['x-coordinator-total-ms', 'x-coordinator-cost-usd']),
      content: {
        'application/json': {
          schema: { $ref: getSchemaPath('ChatCompletionBatch') },
          examples: { batch: { summary: 'An answer and a failure', value: BATCH_EXAMPLE } },
        },
        'text/event-stream': {
          schema: { type: 'string', description: 'Server-sent events: `progress` for each item, then `done`.' },
          examples: { batch: { summary: 'The same with its progress', value: BATCH_EVENTS_EXAMPLE } },
        },
      },
    }),
    ApiErrors(ERRORS),
  );
}
