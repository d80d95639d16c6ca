import { isObject, type JsonObject } from '../../wire/json-value.js';

/** Members of a delta that go on with what came before. */
const TEXTS: readonly string[] = ['content', 'refusal', 'reasoning_content', 'reasoning'];

interface Call {
  readonly id: unknown;
  readonly type: unknown;
  name: string;
  arguments: string;
}

/** Adds up the chunks of one choice of a stream. */
export class ChoiceCollector {
  readonly #texts = new Map<string, string | null>();
  readonly #calls = new Map<number, Call>();
  readonly #logprobs = new Map<string, unknown[]>();
  #role: unknown = 'assistant';
  #finishReason: unknown;

  constructor(private readonly index: number) {}

  /** False for what does not add up by any rule that is known here. */
  add({ index: _index, delta, finish_reason: finishReason, logprobs, ...others }: JsonObject): boolean {
    if (typeof finishReason === 'string') this.#finishReason = finishReason;
    const isKnown = Object.values(others).every((value) => value === null);
    return (
      isKnown && this.#addLogprobs(logprobs) && Object.entries(isObject(delta) ? delta : {}).every(this.#addMember)
    );
  }

  /** Undefined: it has not come to its end. */
  choice(): JsonObject | undefined {
    if (this.#finishReason === undefined) return undefined;
    const calls = [...this.#calls].sort(([one], [other]) => one - other).map(([, call]) => toolCall(call));
    const message = {
      role: this.#role,
      content: null,
      ...Object.fromEntries(this.#texts),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const logprobs = this.#logprobs.size === 0 ? null : Object.fromEntries(this.#logprobs);
    return { index: this.index, message, finish_reason: this.#finishReason, logprobs };
  }

  readonly #addMember = ([name, value]: readonly [string, unknown]): boolean => {
    if (value === null && !TEXTS.includes(name)) return true;
    if (name === 'tool_calls') return Array.isArray(value) && value.every(this.#addCall);
    if (name !== 'role') return TEXTS.includes(name) && this.#addText(name, value);
    this.#role = value;
    return typeof value === 'string';
  };

  #addText(name: string, value: unknown): boolean {
    const before = this.#texts.get(name);
    if (value === null) this.#texts.set(name, before ?? null);
    else if (typeof value === 'string') this.#texts.set(name, `${before ?? ''}${value}`);
    else return false;
    return true;
  }

  readonly #addCall = (value: unknown): boolean => {
    const { index, id, type = 'function', function: named = {}, ...others } = isObject(value) ? value : {};
    if (typeof index !== 'number' || !isObject(named) || Object.keys(others).length > 0) return false;
    const call = this.#calls.get(index) ?? { id, type, name: '', arguments: '' };
    this.#calls.set(index, call);
    return addTexts(call, named);
  };

  #addLogprobs(logprobs: unknown): boolean {
    if (logprobs === undefined || logprobs === null) return true;
    if (!isObject(logprobs)) return false;
    return Object.entries(logprobs).every(([name, items]) => {
      if (items === null) return true;
      if (!Array.isArray(items)) return false;
      const before = this.#logprobs.get(name) ?? [];
      this.#logprobs.set(name, before);
      for (const item of items) before.push(item);
      return true;
    });
  }
}

function addTexts(call: Call, { name = '', arguments: more = '', ...others }: JsonObject): boolean {
  if (typeof name !== 'string' || typeof more !== 'string' || Object.keys(others).length > 0) return false;
  call.name += name;
  call.arguments += more;
  return true;
}

function toolCall({ id, type, name, arguments: text }: Call): JsonObject {
  return { id, type, function: { name, arguments: text } };
}
