import { isObject, type JsonObject, parseObject } from '../../wire/json-value.js';
import { ChoiceCollector } from './choice.collector.js';

const DATA = 'data: ';

/**
 * The chat completion that a stream's events add up to. Undefined where they say something of which nobody here knows how it adds
 * up, or do not tell the usage, which a completion has: half an answer is none.
 *
 * @param frames - all server-sent events of a stream that came to its regular end, written with usage
 */
export function completionOfFrames(frames: string): string | undefined {
  const collector = new CompletionCollector();
  for (const frame of frames.split('\n\n')) {
    if (!frame.startsWith(`${DATA}{`)) continue;
    const chunk = parseObject(frame.slice(DATA.length));
    if (chunk === undefined || !collector.add(chunk)) return undefined;
  }
  return collector.completion();
}

class CompletionCollector {
  readonly #choices = new Map<number, ChoiceCollector>();
  #members: JsonObject = {};
  #usage: JsonObject | undefined;

  /** False: it does not add up. */
  add({ choices, usage, object: _object, obfuscation: _padding, ...members }: JsonObject): boolean {
    this.#members = { ...this.#members, ...members };
    if (isObject(usage)) this.#usage = usage;
    return (Array.isArray(choices) ? choices : []).every((choice) => isObject(choice) && this.#addChoice(choice));
  }

  completion(): string | undefined {
    const choices = [...this.#choices].sort(([one], [other]) => one - other).map(([, choice]) => choice.choice());
    if (choices.length === 0 || choices.includes(undefined) || this.#usage === undefined) return undefined;
    return JSON.stringify({ ...this.#members, object: 'chat.completion', choices, usage: this.#usage });
  }

  #addChoice(choice: JsonObject): boolean {
    const index = typeof choice['index'] === 'number' ? choice['index'] : 0;
    const collector = this.#choices.get(index) ?? new ChoiceCollector(index);
    this.#choices.set(index, collector);
    return collector.add(choice);
  }
}
