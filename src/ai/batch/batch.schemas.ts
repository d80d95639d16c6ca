import { getSchemaPath } from '@nestjs/swagger';
import type { Schema } from '../../http/index.js';
import { DEFAULT_AT_ONCE, MOST_AT_ONCE, MOST_ITEMS } from './batch.request.js';

const COUNT: Schema = { type: 'integer', minimum: 0 };
const INDEX: Schema = { ...COUNT, description: "The item's place in `requests`" };

/** The OpenAPI schemas of `POST /v1/chat/completions/batch`. */
export const BATCH_SCHEMAS = {
  ChatCompletionBatchRequest: {
    type: 'object',
    required: ['requests'],
    properties: {
      model: {
        type: 'string',
        nullable: true,
        minLength: 1,
        maxLength: 256,
        description: 'For the items that name no model',
        example: 'gpt-4.1',
      },
      requests: {
        type: 'array',
        minItems: 1,
        maxItems: MOST_ITEMS,
        description: 'Chat completion requests without `stream`. One that is refused fails alone.',
        items: { $ref: getSchemaPath('ChatCompletionRequest') },
      },
      concurrency: {
        type: 'integer',
        nullable: true,
        minimum: 1,
        maximum: MOST_AT_ONCE,
        default: DEFAULT_AT_ONCE,
        description: 'How many items may be under way at one time',
      },
    },
    additionalProperties: true,
  },
  ChatCompletionBatch: {
    type: 'object',
    required: ['object', 'total', 'succeeded', 'failed', 'results'],
    properties: {
      object: { type: 'string', enum: ['chat.completion.batch'] },
      total: COUNT,
      succeeded: COUNT,
      failed: COUNT,
      results: {
        type: 'array',
        description: 'In the order of the requests',
        items: {
          oneOf: [
            { $ref: getSchemaPath('ChatCompletionBatchAnswer') },
            { $ref: getSchemaPath('ChatCompletionBatchFailure') },
          ],
        },
      },
    },
  },
  ChatCompletionBatchAnswer: {
    type: 'object',
    required: ['index', 'success', 'data'],
    properties: {
      index: INDEX,
      success: { type: 'boolean', enum: [true] },
      data: { $ref: getSchemaPath('ChatCompletion') },
    },
  },
  ChatCompletionBatchFailure: {
    type: 'object',
    required: ['index', 'success', 'error'],
    properties: {
      index: INDEX,
      success: { type: 'boolean', enum: [false] },
      error: { $ref: getSchemaPath('ChatCompletionBatchError') },
    },
  },
  ChatCompletionBatchError: {
    type: 'object',
    description: 'What the request alone would have been answered: the members of `Error`, its status and its delay',
    required: ['message', 'type', 'param', 'code', 'status'],
    properties: {
      message: { type: 'string' },
      type: { type: 'string' },
      param: { type: 'string', nullable: true, description: 'The member of the item at fault' },
      code: { type: 'string', nullable: true },
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status' },
      retry_after_ms: { ...COUNT, description: 'After which another try makes sense; absent: as you see fit' },
    },
  },
  ChatCompletionBatchProgress: {
    type: 'object',
    description: 'The data of a `progress` event: an item is over',
    required: ['completed', 'total', 'index', 'success'],
    properties: {
      completed: { ...COUNT, description: 'How many items are over' },
      total: COUNT,
      index: INDEX,
      success: { type: 'boolean' },
      error: { $ref: getSchemaPath('ChatCompletionBatchError') },
    },
  },
} satisfies Record<string, Schema>;
