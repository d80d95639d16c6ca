import type { Schema } from '../../../http/index.js';
import { oneOf, variant } from './one-of.schema.js';

const NAME: Schema = { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$', example: 'get_weather' };

const JSON_SCHEMA: Schema = {
  type: 'object',
  description: 'A JSON Schema',
  additionalProperties: true,
  example: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const CALLED_FUNCTION: Readonly<Record<string, Schema>> = {
  name: NAME,
  arguments: { type: 'string', description: 'JSON, as the model wrote it', example: '{"city":"Oslo"}' },
};

/** Tools, and what a model may answer instead of plain text. */
export const TOOL_SCHEMAS = {
  ToolDefinition: {
    type: 'object',
    required: ['type', 'function'],
    properties: {
      type: { type: 'string', enum: ['function'] },
      function: {
        type: 'object',
        required: ['name'],
        properties: {
          name: NAME,
          description: { type: 'string', description: 'What it does: the model chooses by it' },
          parameters: JSON_SCHEMA,
          strict: { type: 'boolean', nullable: true, description: 'The arguments follow the schema exactly' },
        },
      },
    },
  },
  ToolChoice: {
    description: '`none`, `auto` (the default with tools), `required` (at least one), or the one function to call.',
    oneOf: [
      { type: 'string', enum: ['none', 'auto', 'required'] },
      {
        type: 'object',
        required: ['type', 'function'],
        properties: {
          type: { type: 'string', enum: ['function'] },
          function: { type: 'object', required: ['name'], properties: { name: NAME } },
        },
      },
    ],
  },
  ToolCall: {
    type: 'object',
    required: ['id', 'type', 'function'],
    properties: {
      id: { type: 'string', example: 'call_1' },
      type: { type: 'string', enum: ['function'] },
      function: { type: 'object', required: ['name', 'arguments'], properties: CALLED_FUNCTION },
    },
  },
  ToolCallDelta: {
    type: 'object',
    description:
      'A piece of a tool call. The first of a call tells `id` and name; the `arguments` of all make the JSON.',
    required: ['index'],
    properties: {
      index: { type: 'integer', minimum: 0, description: 'Which of the calls' },
      id: { type: 'string' },
      type: { type: 'string', enum: ['function'] },
      function: { type: 'object', properties: CALLED_FUNCTION },
    },
  },
  ResponseFormat: oneOf('type', {
    text: 'TextFormat',
    json_object: 'JsonObjectFormat',
    json_schema: 'JsonSchemaFormat',
  }),
  TextFormat: variant('text', {}),
  JsonObjectFormat: variant('json_object', {}),
  JsonSchemaFormat: variant('json_schema', {
    json_schema: {
      type: 'object',
      required: ['name'],
      properties: {
        name: NAME,
        description: { type: 'string' },
        schema: JSON_SCHEMA,
        strict: { type: 'boolean', nullable: true, description: 'The answer follows the schema exactly' },
      },
    },
  }),
} satisfies Record<string, Schema>;
