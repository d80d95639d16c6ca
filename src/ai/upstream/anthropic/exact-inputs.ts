import { randomUUID } from 'node:crypto';
import { isObject, type JsonObject, member, parseObject } from '../../wire/json-value.js';
import { RawJson } from '../../wire/raw-json.js';

/** A JSON text's strings and numbers, each whole. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * A message whose tools are called with the numbers that the model wrote. Read as numbers, ids beyond 2^53 would become others.
 *
 * @param text - the message's JSON text
 * @param message - the same, parsed
 */
export function withExactInputs(text: string, message: JsonObject): JsonObject {
  const blocks: readonly unknown[] = Array.isArray(message['content']) ? message['content'] : [];
  if (!blocks.some((block) => member(block, 'type') === 'tool_use')) return message;
  const mark = randomUUID();
  const marked = text.replaceAll(TOKEN, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${mark}${token}"`,
  );
  const content = member(parseObject(marked), 'content');
  if (!Array.isArray(content)) return message;
  return { ...message, content: content.map((block: unknown) => exact(block, new RegExp(`"${mark}([^"]*)"`, 'g'))) };
}

function exact(block: unknown, marked: RegExp): unknown {
  if (!isObject(block) || block['type'] !== 'tool_use') return block;
  const input = block['input'] ?? {};
  return { ...block, input: new RawJson(JSON.stringify(input).replaceAll(marked, '$1')) };
}
