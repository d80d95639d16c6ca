import { isObject, type JsonObject } from '../../ai/index.js';
import type { NewMessage } from '../store/index.js';
import { callIds } from './chat.messages.js';
import { wellFormed, wellFormedJson } from './content.js';

/** What a stream of chunks has come to so far: the assistant's message. */
export class TurnReply {
  #content = '';
  #refusal = '';
  #model: string | undefined;
  #usage: JsonObject | undefined;
  #finishReason: string | undefined;
  readonly #calls = new Map<number, JsonObject>();

  /** @param chunk - an OpenAI chat.completion.chunk; of several choices the first counts */
  add(chunk: JsonObject): void {
    if (typeof chunk['model'] === 'string') this.#model = chunk['model'];
    if (isObject(chunk['usage'])) this.#usage = chunk['usage'];
    const [choice] = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isObject) : [];
    if (choice === undefined) return;
    if (typeof choice['finish_reason'] === 'string') this.#finishReason = choice['finish_reason'];
    if (isObject(choice['delta'])) this.#take(choice['delta']);
  }

  /** Whether there is anything to show. */
  get isEmpty(): boolean {
    return this.#text.trim() === '' && this.#calls.size === 0;
  }

  /** Whether the provider has said that this is all. */
  get isFinished(): boolean {
    return this.#finishReason !== undefined;
  }

  /** Whether the model was not let say all: its tokens were used up, as those of reasoning may be before a word, or a filter stepped in. */
  get isStopped(): boolean {
    return this.#finishReason === 'length' || this.#finishReason === 'content_filter';
  }

  /** @param isWhole - false: calls of tools are left out, since their arguments may be cut off */
  message(isWhole: boolean): NewMessage {
    const calls = isWhole ? this.#toolCalls() : [];
    return {
      role: 'assistant',
      // White space alone says nothing, and there are providers that refuse to hear it later.
      content: this.#text.trim() === '' ? '' : wellFormed(this.#text),
      isJson: false,
      toolCalls: calls.length === 0 ? undefined : JSON.stringify(wellFormedJson(calls)),
      calls: callIds(calls),
      toolCallId: undefined,
      model: this.#model,
      usage: this.#usage === undefined ? undefined : JSON.stringify(this.#usage),
      finishReason: this.#finishReason,
      tokens: [],
    };
  }

  get #text(): string {
    return this.#content === '' ? this.#refusal : this.#content;
  }

  #take(delta: JsonObject): void {
    if (typeof delta['content'] === 'string') this.#content += delta['content'];
    if (typeof delta['refusal'] === 'string') this.#refusal += delta['refusal'];
    const calls = Array.isArray(delta['tool_calls']) ? delta['tool_calls'].filter(isObject) : [];
    for (const [at, call] of calls.entries()) {
      const index = typeof call['index'] === 'number' ? call['index'] : at;
      this.#calls.set(index, joined(this.#calls.get(index), call));
    }
  }

  #toolCalls(): readonly JsonObject[] {
    return [...this.#calls].sort(([a], [b]) => a - b).map(([, { index: _index, ...call }]) => call);
  }
}

/** What a tool call has come to: what its tool is given comes in pieces, all else once. */
function joined(call: JsonObject | undefined, delta: JsonObject): JsonObject {
  const given = Object.entries(delta).filter(([, value]) => value !== null && value !== undefined);
  return {
    type: 'function',
    ...call,
    ...Object.fromEntries(given),
    ...joinedMember('function', 'arguments', [call, delta]),
    ...joinedMember('custom', 'input', [call, delta]),
  };
}

function joinedMember(
  name: 'function' | 'custom',
  piece: 'arguments' | 'input',
  [call, delta]: readonly [JsonObject | undefined, JsonObject],
): JsonObject {
  const [before, more] = [call?.[name], delta[name]];
  if (!isObject(before) && !isObject(more)) return {};
  const [old, fresh] = [isObject(before) ? before : {}, isObject(more) ? more : {}];
  return { [name]: { ...old, ...fresh, [piece]: textOf(old[piece]) + textOf(fresh[piece]) } };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
