import { getSchemaPath } from '@nestjs/swagger';
import type { Schema } from '../../../http/index.js';
import { oneOf, variant } from './one-of.schema.js';

const TEXT_PART = variant('text', { text: { type: 'string', example: 'What is in this picture?' } });

const IMAGE_PART = variant('image_url', {
  image_url: {
    type: 'object',
    required: ['url'],
    properties: {
      url: {
        type: 'string',
        description: 'A URL that the provider can reach, or a data URL',
        example: 'https://example.com/cat.png',
      },
      detail: { type: 'string', enum: ['auto', 'low', 'high'], default: 'auto' },
    },
  },
});

const AUDIO_PART = variant('input_audio', {
  input_audio: {
    type: 'object',
    required: ['data', 'format'],
    properties: {
      data: { type: 'string', description: 'Base64' },
      format: { type: 'string', description: '`wav`, `mp3`', example: 'wav' },
    },
  },
});

const FILE_PART = variant('file', {
  file: {
    type: 'object',
    properties: {
      file_data: { type: 'string', description: 'A data URL' },
      file_id: { type: 'string' },
      filename: { type: 'string' },
    },
  },
});

const REFUSAL_PART = variant('refusal', { refusal: { type: 'string' } });

/** The messages of a chat completion request, by role. */
export const MESSAGE_SCHEMAS = {
  ChatMessage: oneOf('role', {
    system: 'InstructionMessage',
    developer: 'InstructionMessage',
    user: 'UserMessage',
    assistant: 'AssistantMessage',
    tool: 'ToolMessage',
  }),
  InstructionMessage: message(['system', 'developer'], {
    description: 'What holds for the whole conversation.',
    required: ['content'],
    properties: { content: content('TextPart'), name: { type: 'string' } },
  }),
  UserMessage: message(['user'], {
    description: 'What the user says.',
    required: ['content'],
    properties: { content: content('ContentPart'), name: { type: 'string' } },
  }),
  AssistantMessage: message(['assistant'], {
    description: 'An earlier answer of the model. Without content where it called tools instead.',
    properties: {
      content: content('AnswerPart', true),
      refusal: { type: 'string', nullable: true },
      name: { type: 'string' },
      tool_calls: { type: 'array', items: { $ref: getSchemaPath('ToolCall') } },
    },
  }),
  ToolMessage: message(['tool'], {
    description: 'What a tool answered.',
    required: ['content', 'tool_call_id'],
    properties: {
      content: content('TextPart'),
      tool_call_id: { type: 'string', description: 'The `id` of the call that is answered', example: 'call_1' },
    },
  }),
  ContentPart: oneOf('type', {
    text: 'TextPart',
    image_url: 'ImagePart',
    input_audio: 'AudioPart',
    file: 'FilePart',
  }),
  AnswerPart: oneOf('type', { text: 'TextPart', refusal: 'RefusalPart' }),
  TextPart: TEXT_PART,
  ImagePart: IMAGE_PART,
  AudioPart: AUDIO_PART,
  FilePart: FILE_PART,
  RefusalPart: REFUSAL_PART,
} satisfies Record<string, Schema>;

function content(partName: string, nullable = false): Schema {
  const text = { type: 'string', ...(nullable && { nullable }) };
  const parts = { type: 'array', minItems: 1, items: { $ref: getSchemaPath(partName) } };
  return { description: 'Text, or parts', oneOf: [text, parts] };
}

function message(roles: readonly string[], schema: Schema): Schema {
  const role: Schema = { type: 'string', enum: [...roles] };
  return {
    type: 'object',
    ...schema,
    required: ['role', ...(schema.required ?? [])],
    properties: { role, ...schema.properties },
    additionalProperties: true,
  };
}
