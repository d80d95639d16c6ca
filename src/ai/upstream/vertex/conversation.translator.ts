import { isObject, type JsonObject } from '../../wire/json-value.js';
import { isGiven, NO_COUNTERPART, refuseOthers, textOf, UntranslatableError } from '../untranslatable.error.js';
import { assistantParts } from './assistant.translator.js';
import { type MediaResolution, mediaResolutionOf, partsOf, textPartsOf } from './part.translator.js';

/** One content of Gemini's. */
export interface Content {
  readonly role: 'user' | 'model';
  readonly parts: readonly JsonObject[];
}

export interface Conversation {
  readonly system: readonly JsonObject[];
  readonly contents: readonly Content[];
  /** How closely images are to be looked at; undefined: as the model is used to. */
  readonly mediaResolution: MediaResolution | undefined;
}

/**
 * OpenAI's messages as Gemini wants them: what a system or developer message says stands apart, wherever it stood, and the results of
 * parallel calls come together, named by the function instead of the call.
 *
 * @throws UntranslatableError
 */
export function conversationOf(messages: unknown, model: string): Conversation {
  if (!Array.isArray(messages)) throw new UntranslatableError('messages', 'must be a list of messages');
  const builder = new ConversationBuilder(model);
  messages.forEach((message: unknown, index) => {
    const path = `messages[${String(index)}]`;
    if (!isObject(message)) throw new UntranslatableError(path, 'must be a message with a role');
    builder.add(message, path);
  });
  const { system, contents } = builder;
  const mediaResolution = mediaResolutionOf(messages);
  // There must be a content: instructions alone are a prompt.
  if (contents.length === 0) return { system: [], contents: [{ role: 'user', parts: system }], mediaResolution };
  return { system, contents, mediaResolution };
}

class ConversationBuilder {
  readonly system: JsonObject[] = [];
  readonly contents: Content[] = [];
  readonly #nameOfCall = new Map<string, string>();
  /** The results of the calls that were made last. */
  #results: JsonObject[] | undefined;

  constructor(private readonly model: string) {}

  add(message: JsonObject, path: string): void {
    if (message['role'] === 'tool') {
      this.#addResult(message, path);
      return;
    }
    this.#results = undefined;
    switch (message['role']) {
      case 'system':
      case 'developer':
        refuseOthers(message, `${path}.`, ['role', 'content']);
        this.system.push(...textPartsOf(message['content'], `${path}.content`));
        return;
      case 'user':
        refuseOthers(message, `${path}.`, ['role', 'content']);
        this.contents.push({ role: 'user', parts: partsOf(message['content'], `${path}.content`) });
        return;
      case 'assistant':
        this.contents.push({ role: 'model', parts: assistantParts(message, path, this.model) });
        this.#rememberCalls(message);
        return;
      default:
        throw new UntranslatableError(`${path}.role`, `${JSON.stringify(message['role'])} ${NO_COUNTERPART}`);
    }
  }

  /** Its text stands there as it is: parsed and written again, large numbers would change. */
  #addResult(message: JsonObject, path: string): void {
    refuseOthers(message, `${path}.`, ['role', 'content', 'tool_call_id', 'name']);
    const id = textOf(message['tool_call_id'], `${path}.tool_call_id`);
    const name = this.#nameOfCall.get(id);
    if (name === undefined)
      throw new UntranslatableError(
        `${path}.tool_call_id`,
        'must be that of a call before it, whose function is named there',
      );
    if (isGiven(message['name']) && message['name'] !== name)
      throw new UntranslatableError(`${path}.name`, `must be that of the function that was called, ${name}`);
    const output = textPartsOf(message['content'], `${path}.content`)
      .map(({ text }) => text)
      .join('');
    const part = { functionResponse: { name, response: { output } } };
    if (this.#results === undefined) {
      this.#results = [part];
      this.contents.push({ role: 'user', parts: this.#results });
    } else {
      this.#results.push(part);
    }
  }

  #rememberCalls({ tool_calls: calls }: JsonObject): void {
    if (!Array.isArray(calls)) return;
    for (const call of calls.filter(isObject)) {
      const { id, function: called } = call;
      const name = isObject(called) ? called['name'] : undefined;
      if (typeof id === 'string' && typeof name === 'string') this.#nameOfCall.set(id, name);
    }
  }
}
