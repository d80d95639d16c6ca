import { getSchemaPath } from '@nestjs/swagger';
import type { Schema } from '../../../http/index.js';

const OWN_MEMBERS: Readonly<Record<string, Schema>> = {
  models: {
    type: 'array',
    nullable: true,
    items: { type: 'string', maxLength: 256 },
    minItems: 1,
    maxItems: 16,
    description:
      'Names to try in this order, in place of `model` and of the configured fallbacks: those that exist, are allowed and are served, the next one where one fails. Never sent to a provider.',
    example: ['gpt-4.1', 'claude-sonnet-4.5'],
  },
  cache: {
    type: 'boolean',
    nullable: true,
    description:
      '`false`: neither answered from the cache nor kept in it, and joined with no call that is under way. Never sent to a provider.',
  },
};

/** The members that this service reads. */
const READ_MEMBERS: Readonly<Record<string, Schema>> = {
  model: {
    type: 'string',
    nullable: true,
    minLength: 1,
    maxLength: 256,
    description: 'A name or alias of the catalogue. Required unless there is `models`.',
    example: 'gpt-4.1',
  },
  messages: { type: 'array', minItems: 1, items: { $ref: getSchemaPath('ChatMessage') } },
  stream: { type: 'boolean', nullable: true, default: false, description: 'Answer with server-sent events' },
  stream_options: {
    type: 'object',
    nullable: true,
    properties: { include_usage: { type: 'boolean', description: 'End the stream with a chunk that tells the usage' } },
    additionalProperties: true,
  },
  max_tokens: limit('Tokens of the answer at most; newer models want `max_completion_tokens`'),
  max_completion_tokens: limit('Tokens of the answer at most, reasoning included'),
  n: limit('Choices to answer'),
};

/** OpenAI's other members, as clients may expect them; the provider is the judge of these. */
const PASSED_MEMBERS: NonNullable<Schema['properties']> = {
  temperature: range(0, 2),
  top_p: range(0, 1),
  presence_penalty: range(-2, 2),
  frequency_penalty: range(-2, 2),
  stop: {
    description: 'Where to end the answer',
    oneOf: [
      { type: 'string', nullable: true },
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 4 },
    ],
  },
  seed: {
    type: 'integer',
    nullable: true,
    description: 'The same seed gives the same answer, as far as the model can',
  },
  logprobs: { type: 'boolean', nullable: true },
  top_logprobs: { type: 'integer', nullable: true, minimum: 0, maximum: 20 },
  logit_bias: { type: 'object', nullable: true, additionalProperties: { type: 'number' } },
  tools: { type: 'array', items: { $ref: getSchemaPath('ToolDefinition') } },
  tool_choice: { $ref: getSchemaPath('ToolChoice') },
  parallel_tool_calls: { type: 'boolean', default: true },
  response_format: { $ref: getSchemaPath('ResponseFormat') },
  reasoning_effort: { type: 'string', nullable: true, description: '`low`, `medium`, `high`, or what the model knows' },
  service_tier: { type: 'string', nullable: true },
  user: { type: 'string', description: 'Your name for the end user, for the provider' },
  metadata: { type: 'object', nullable: true, additionalProperties: { type: 'string' }, maxProperties: 16 },
};

/** The body of a chat completion request. */
export const REQUEST_SCHEMAS = {
  ChatCompletionRequest: {
    type: 'object',
    description: 'An OpenAI chat completion request. Members not listed here go to the provider untouched.',
    required: ['messages'],
    properties: { ...READ_MEMBERS, ...OWN_MEMBERS, ...PASSED_MEMBERS },
    additionalProperties: true,
  },
} satisfies Record<string, Schema>;

function limit(description: string): Schema {
  return { type: 'integer', nullable: true, minimum: 1, description };
}

function range(minimum: number, maximum: number): Schema {
  return { type: 'number', nullable: true, minimum, maximum };
}
