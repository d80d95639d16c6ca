import { isObject, type JsonObject } from '../wire/json-value.js';

const SPOKEN = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const;

/** What came of an answer, as far as tokens are spent on it: for a count where the provider gives none. */
export class DeliveredText {
  readonly #pieces: string[] = [];

  /** Of a chat.completion, or of one of its chunks. */
  add({ choices }: JsonObject): void {
    if (!Array.isArray(choices)) return;
    for (const choice of choices.filter(isObject)) {
      for (const message of [choice['delta'], choice['message']].filter(isObject)) this.#addMessage(message);
    }
  }

  get text(): string {
    return this.#pieces.join('');
  }

  #addMessage(message: JsonObject): void {
    for (const name of SPOKEN) this.#addContent(message[name]);
    const calls: unknown = message['tool_calls'];
    for (const call of Array.isArray(calls) ? calls.filter(isObject) : []) this.#addFunction(call['function']);
    this.#addFunction(message['function_call']);
  }

  /** A text, or parts that have one. */
  #addContent(content: unknown): void {
    if (typeof content === 'string') this.#pieces.push(content);
    if (!Array.isArray(content)) return;
    for (const part of content.filter(isObject)) this.#addContent(part['text']);
  }

  #addFunction(called: unknown): void {
    if (!isObject(called)) return;
    this.#addContent(called['name']);
    this.#addContent(called['arguments']);
  }
}

/** Of a whole answer. */
export function deliveredIn(completion: JsonObject): string {
  const delivered = new DeliveredText();
  delivered.add(completion);
  return delivered.text;
}
