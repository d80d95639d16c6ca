import { isObject, type JsonObject } from '../../wire/json-value.js';
import { isGiven, NO_COUNTERPART, refuseOthers, textOf, UntranslatableError } from '../untranslatable.error.js';
import { refuseLateInstructions, refuseSilence } from '../openai.request.js';
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
 * OpenAI's messages as Gemini wants them: what a system or developer message says stands apart, and is refused where it does not stand
 * at the top already; the results of parallel calls come together, named by the function instead of the call. Instructions alone are a
 * prompt: there must be a content. Gemini takes no empty text: an answer without a word is left out, and a user who says nothing is
 * refused by name.
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
  if (contents.length > 0) return { system, contents, mediaResolution };
  if (system.length === 0) refuseSilence('messages');
  return { system: [], contents: [{ role: 'user', parts: system }], mediaResolution };
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
        if (this.contents.length > 0) refuseLateInstructions(path);
        this.system.push(...textPartsOf(message['content'], `${path}.content`));
        return;
      case 'user':
        refuseOthers(message, `${path}.`, ['role', 'content']);
        this.#add('user', partsOf(message['content'], `${path}.content`), `${path}.content`);
        return;
      case 'assistant':
        this.#add('model', assistantParts(message, path, this.model), path);
        this.#rememberCalls(message);
        return;
      default:
        throw new UntranslatableError(`${path}.role`, `${JSON.stringify(message['role'])} ${NO_COUNTERPART}`);
    }
  }

  #add(role: Content['role'], parts: readonly JsonObject[], path: string): void {
    if (parts.length > 0) this.contents.push({ role, parts });
    else if (role === 'user') refuseSilence(path);
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
