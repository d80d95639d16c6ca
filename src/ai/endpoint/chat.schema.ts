import type { ApiBodyOptions, ApiResponseOptions } from '@nestjs/swagger';

/** The OpenAPI schemas of `POST /v1/chat/completions`: the members this service reads; all others go to the provider untouched. */
export const CHAT_REQUEST_BODY: ApiBodyOptions = {
  description: 'An OpenAI chat completion request. Members not listed here go to the provider untouched.',
  schema: {
    type: 'object',
    required: ['messages'],
    additionalProperties: true,
    properties: {
      model: { type: 'string', description: 'a catalogue name or alias', example: 'gpt-4.1' },
      models: {
        type: 'array',
        items: { type: 'string' },
        maxItems: 16,
        description: 'models to choose from, in order; instead of `model`',
      },
      messages: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['role'],
          additionalProperties: true,
          properties: {
            role: { type: 'string', enum: ['system', 'developer', 'user', 'assistant', 'tool'] },
            content: { description: 'text, or content parts (text, image_url, …)' },
          },
        },
      },
      stream: { type: 'boolean', default: false, description: 'answer with server-sent events' },
      stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
      max_tokens: { type: 'integer', minimum: 1 },
      max_completion_tokens: { type: 'integer', minimum: 1 },
      n: { type: 'integer', minimum: 1 },
      tools: { type: 'array', items: { type: 'object' } },
      response_format: { type: 'object' },
    },
  },
  examples: {
    text: { value: { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Say hello.' }] } },
    stream: { value: { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Say hello.' }], stream: true } },
  },
};

export const CHAT_RESPONSE: ApiResponseOptions = {
  description: 'The completion; with `stream: true` its chunks as server-sent events, ended by `data: [DONE]`',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['id', 'object', 'created', 'model', 'choices'],
        properties: {
          id: { type: 'string' },
          object: { type: 'string', enum: ['chat.completion'] },
          created: { type: 'integer', description: 'Unix seconds' },
          model: { type: 'string', description: 'the catalogue name of the model that answered' },
          choices: { type: 'array', items: { type: 'object' } },
          usage: {
            type: 'object',
            properties: {
              prompt_tokens: { type: 'integer' },
              completion_tokens: { type: 'integer' },
              total_tokens: { type: 'integer' },
              cost: { type: 'number', description: 'USD by the price of the deployment that answered' },
            },
          },
        },
      },
      example: {
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1_764_000_000,
        model: 'gpt-4.1',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cost: 0.000036 },
      },
    },
    'text/event-stream': {
      schema: { type: 'string' },
      example: 'data: {"object":"chat.completion.chunk",…}\n\ndata: [DONE]\n\n',
    },
  },
};
