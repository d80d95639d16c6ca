import { getSchemaPath } from '@nestjs/swagger';
import type { Schema } from '../../../http/index.js';

const COUNT: Schema = { type: 'integer', minimum: 0 };

const ENVELOPE: Readonly<Record<string, Schema>> = {
  id: { type: 'string', example: 'chatcmpl-1' },
  created: { type: 'integer', description: 'Unix seconds', example: 1_795_967_150 },
  model: { type: 'string', description: 'The catalogue name of the model that answered', example: 'gpt-4.1' },
  system_fingerprint: { type: 'string', nullable: true },
  service_tier: { type: 'string', nullable: true },
};

const CHOICE: Readonly<Record<string, Schema>> = {
  index: COUNT,
  logprobs: {
    type: 'object',
    nullable: true,
    description: 'Null unless asked for by `logprobs`',
    properties: { content: tokenList(), refusal: tokenList() },
  },
};

const FINISH_REASON: Schema = {
  type: 'string',
  description: '`stop`, `length`, `tool_calls`, `content_filter`, or what else the provider says',
  example: 'stop',
};

const CONTENT: Schema = { type: 'string', nullable: true };

const USAGE: Schema = {
  type: 'object',
  description: 'What the provider counted, and what it costs.',
  required: ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  properties: {
    prompt_tokens: COUNT,
    completion_tokens: COUNT,
    total_tokens: COUNT,
    prompt_tokens_details: {
      type: 'object',
      nullable: true,
      properties: {
        cached_tokens: { ...COUNT, description: "Read from the provider's cache; part of `prompt_tokens`" },
        cache_write_tokens: { ...COUNT, description: "Written to the provider's cache; part of `prompt_tokens`" },
        cache_write_1h_tokens: { ...COUNT, description: 'Kept there for an hour; part of `cache_write_tokens`' },
        audio_tokens: COUNT,
      },
    },
    completion_tokens_details: {
      type: 'object',
      nullable: true,
      properties: {
        reasoning_tokens: { ...COUNT, description: 'Part of `completion_tokens`' },
        audio_tokens: COUNT,
        accepted_prediction_tokens: COUNT,
        rejected_prediction_tokens: COUNT,
      },
    },
    cost: {
      type: 'number',
      minimum: 0,
      description: 'USD, by the price of the deployment that answered; absent where it has none',
      example: 0.000036,
    },
  },
  additionalProperties: true,
};

/** What a chat completion answers, as JSON and as the events of a stream. Members not listed here are the provider's own. */
export const COMPLETION_SCHEMAS = {
  ChatCompletion: {
    type: 'object',
    required: ['id', 'object', 'created', 'model', 'choices'],
    properties: {
      ...ENVELOPE,
      object: { type: 'string', enum: ['chat.completion'] },
      choices: { type: 'array', items: { $ref: getSchemaPath('ChatChoice') } },
      usage: USAGE,
    },
    additionalProperties: true,
  },
  ChatChoice: {
    type: 'object',
    required: ['index', 'message', 'finish_reason'],
    properties: { ...CHOICE, message: { $ref: getSchemaPath('ChatAnswer') }, finish_reason: FINISH_REASON },
    additionalProperties: true,
  },
  ChatAnswer: {
    type: 'object',
    required: ['role', 'content'],
    properties: {
      role: { type: 'string', enum: ['assistant'] },
      content: { ...CONTENT, description: 'Null where the model calls tools or refuses' },
      refusal: CONTENT,
      tool_calls: { type: 'array', items: { $ref: getSchemaPath('ToolCall') } },
      annotations: { type: 'array', items: { type: 'object', additionalProperties: true } },
    },
    additionalProperties: true,
  },
  ChatCompletionChunk: {
    type: 'object',
    description: 'The data of one event of a stream.',
    required: ['id', 'object', 'created', 'model', 'choices'],
    properties: {
      ...ENVELOPE,
      object: { type: 'string', enum: ['chat.completion.chunk'] },
      choices: {
        type: 'array',
        items: { $ref: getSchemaPath('ChatChunkChoice') },
        description: 'Empty in the chunk that tells the usage',
      },
      usage: {
        ...USAGE,
        nullable: true,
        description: 'With `stream_options.include_usage`: in the last chunk; null in those before. Else absent.',
      },
    },
    additionalProperties: true,
  },
  ChatChunkChoice: {
    type: 'object',
    required: ['index', 'delta'],
    properties: {
      ...CHOICE,
      delta: { $ref: getSchemaPath('ChatDelta') },
      finish_reason: { ...FINISH_REASON, nullable: true, description: 'Null until the choice ends' },
    },
    additionalProperties: true,
  },
  ChatDelta: {
    type: 'object',
    description: 'What comes on top of the deltas before it.',
    properties: {
      role: { type: 'string', enum: ['assistant'] },
      content: CONTENT,
      refusal: CONTENT,
      tool_calls: { type: 'array', items: { $ref: getSchemaPath('ToolCallDelta') } },
    },
    additionalProperties: true,
  },
  TokenLogprob: {
    type: 'object',
    required: ['token', 'logprob'],
    properties: {
      ...tokenMembers(),
      top_logprobs: { type: 'array', items: { type: 'object', properties: tokenMembers() } },
    },
  },
} satisfies Record<string, Schema>;

function tokenList(): Schema {
  return { type: 'array', nullable: true, items: { $ref: getSchemaPath('TokenLogprob') } };
}

function tokenMembers(): Readonly<Record<string, Schema>> {
  return {
    token: { type: 'string' },
    logprob: { type: 'number' },
    bytes: { type: 'array', nullable: true, items: { type: 'integer' } },
  };
}
