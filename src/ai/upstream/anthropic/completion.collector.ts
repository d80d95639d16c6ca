import { isObject, type JsonObject, member } from '../../wire/json-value.js';
import type { Chunk } from './message.reader.js';

interface Call {
  readonly id: unknown;
  readonly name: unknown;
  arguments: string;
}

/** Makes one chat completion out of the chunks of a stream that has one choice. */
export class CompletionCollector {
  readonly #texts: Record<'content' | 'reasoning_content' | 'refusal', string> = {
    content: '',
    reasoning_content: '',
    refusal: '',
  };
  readonly #calls: Call[] = [];
  readonly #thinkingBlocks: unknown[] = [];
  #head: JsonObject = {};
  #finishReason: unknown = null;
  #usage: unknown = undefined;

  add(chunk: Chunk): void {
    const { choices, usage, ...head } = chunk;
    this.#head = { ...head, object: 'chat.completion' };
    if (isObject(usage)) this.#usage = usage;
    for (const choice of listOf(choices)) {
      this.#finishReason = member(choice, 'finish_reason') ?? this.#finishReason;
      this.#addDelta(member(choice, 'delta'));
    }
  }

  completion(): JsonObject {
    const { content, reasoning_content: reasoning, refusal } = this.#texts;
    const calls = this.#calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
    const message = {
      role: 'assistant',
      // OpenAI: null where there are only calls.
      content: content === '' && calls.length > 0 ? null : content,
      refusal: refusal === '' ? null : refusal,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(this.#thinkingBlocks.length > 0 && { thinking_blocks: this.#thinkingBlocks }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return {
      ...this.#head,
      choices: [{ index: 0, message, logprobs: null, finish_reason: this.#finishReason }],
      ...(this.#usage !== undefined && { usage: this.#usage }),
    };
  }

  #addDelta(delta: unknown): void {
    for (const name of ['content', 'reasoning_content', 'refusal'] as const) {
      const text = member(delta, name);
      if (typeof text === 'string') this.#texts[name] += text;
    }
    this.#thinkingBlocks.push(...listOf(member(delta, 'thinking_blocks')));
    for (const call of listOf(member(delta, 'tool_calls'))) this.#addCall(call);
  }

  #addCall(call: unknown): void {
    const called = member(call, 'function');
    const text = member(called, 'arguments');
    const begun = this.#calls[Number(member(call, 'index'))];
    if (begun === undefined) {
      this.#calls.push({ id: member(call, 'id'), name: member(called, 'name'), arguments: String(text) });
    } else if (typeof text === 'string') {
      begun.arguments += text;
    }
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
