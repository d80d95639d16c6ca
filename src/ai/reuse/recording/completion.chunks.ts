import { isObject, type JsonObject, member, parseObject } from '../../wire/json-value.js';

/**
 * A chat completion as the events of a stream, with usage at its end: of each choice one chunk with all of its message, one with its
 * end. Ids and times are those of the completion. Undefined where it is no completion that a stream could tell.
 *
 * @param text - JSON
 */
export function framesOfCompletion(text: string): string | undefined {
  const completion = parseObject(text);
  const choices = completion?.['choices'];
  if (completion === undefined || !Array.isArray(choices)) return undefined;
  const { choices: _choices, usage, object: _object, ...rest } = completion;
  const chunk = (more: JsonObject): string =>
    `data: ${JSON.stringify({ ...rest, object: 'chat.completion.chunk', ...more })}\n\n`;
  // As OpenAI's streams have it that tell their usage: before the last chunk it is null.
  const pending = isObject(usage) ? { usage: null } : {};
  const frames: string[] = [];
  for (const choice of choices) {
    const message = member(choice, 'message');
    if (!isObject(choice) || !isObject(message)) return undefined;
    const { message: _message, finish_reason, ...more } = choice;
    const delta = deltaOf(message);
    frames.push(chunk({ choices: [{ ...more, delta, finish_reason: null }], ...pending }));
    frames.push(chunk({ choices: [{ index: choice['index'] ?? 0, delta: {}, finish_reason }], ...pending }));
  }
  if (isObject(usage)) frames.push(chunk({ choices: [], usage }));
  return `${frames.join('')}data: [DONE]\n\n`;
}

/** The calls in a delta say which of them they go on with. */
function deltaOf(message: JsonObject): JsonObject {
  const calls = message['tool_calls'];
  if (!Array.isArray(calls)) return message;
  const indexed = calls.map((call: unknown, index) => (isObject(call) ? { index, ...call } : call));
  return { ...message, tool_calls: indexed };
}
