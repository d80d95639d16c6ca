import { attachment, isRecord, overhead, type CountedPart } from './counted.part.js';
import type { PromptFormat } from './prompt.format.js';
import { jsonParts } from './schema.parts.js';

/** What a Chat Completions body is billed for. */
export function* requestParts(body: unknown, format: PromptFormat): Generator<CountedPart> {
  const request = asRecord(body);
  yield overhead(format.primingTokens);
  for (const message of asArray(request['messages'])) {
    yield* messageParts(message, format);
  }
  yield* toolParts(asArray(request['tools']), format);
  yield* toolParts(asArray(request['functions']), format);
  const schema = asRecord(request['response_format'])['json_schema'];
  if (schema !== undefined) {
    yield* jsonParts(schema, format);
  }
}

/** What one message is billed for, its overhead included. */
export function* messageParts(value: unknown, format: PromptFormat): Generator<CountedPart> {
  const message = asRecord(value);
  yield overhead(format.messageTokens);
  yield asText(message['role']);
  yield* contentParts(message['content'], format);
  yield asText(message['refusal']);
  if (typeof message['name'] === 'string') {
    yield overhead(format.nameTokens);
    yield message['name'];
  }
  for (const call of asArray(message['tool_calls'])) {
    yield* callParts(asRecord(call)['function'] ?? asRecord(call)['custom'], format);
  }
  if (message['function_call'] !== undefined) {
    yield* callParts(message['function_call'], format);
  }
}

function* contentParts(content: unknown, format: PromptFormat): Generator<CountedPart> {
  if (typeof content === 'string') {
    yield content;
    return;
  }
  for (const value of asArray(content)) {
    const part = asRecord(value);
    switch (part['type']) {
      case 'text':
        yield asText(part['text']);
        break;
      case 'refusal':
        yield asText(part['refusal']);
        break;
      case 'image_url':
        yield attachment(
          asRecord(part['image_url'])['detail'] === 'low' ? format.lowDetailImageTokens : format.imageTokens,
        );
        break;
      default:
        yield attachment(format.otherAttachmentTokens);
    }
  }
}

function* callParts(value: unknown, format: PromptFormat): Generator<CountedPart> {
  const call = asRecord(value);
  yield overhead(format.toolCallTokens);
  yield asText(call['name']);
  yield asText(call['arguments']);
  yield asText(call['input']);
}

function* toolParts(tools: readonly unknown[], format: PromptFormat): Generator<CountedPart> {
  if (tools.length === 0) {
    return;
  }
  yield overhead(format.toolsTokens);
  for (const tool of tools) {
    yield overhead(format.toolTokens);
    yield* jsonParts(definitionOf(tool), format);
  }
}

/** A function's or a custom tool's definition; what is neither, as it stands. */
function definitionOf(tool: unknown): unknown {
  const { function: callable, custom } = asRecord(tool);
  return callable ?? custom ?? tool;
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
