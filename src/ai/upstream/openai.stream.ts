import type { Readable } from 'node:stream';
import { saysSomething } from '../wire/chat-chunk.js';
import { MalformedStreamError, type SseEvent } from '../wire/sse.reader.js';
import { type JsonObject, parseObject } from '../wire/json-value.js';
import { type EventReader, readEventStream } from './event-stream.js';
import { brokenUpstream, classifyInBand, type FailedProvider, hasError } from './failure.classifier.js';
import { choicesIn, hasEnded } from './openai.answer.js';
import type { AttemptRequest, StreamEvent } from './provider.adapter.js';

/** Reads OpenAI's chat completion stream; see `UpstreamStream.events` for what it guarantees. */
export function readChatStream(body: Readable, attempt: AttemptRequest): AsyncGenerator<readonly StreamEvent[]> {
  return readEventStream(body, attempt, new ChatReader(attempt.deployment.upstream, attempt.choices));
}

class ChatReader implements EventReader {
  isDone = false;
  readonly #begun = new Set<number>();
  readonly #said = new Set<number>();
  readonly #finished = new Set<number>();

  constructor(
    private readonly provider: FailedProvider,
    private readonly choices: number,
  ) {}

  /**
   * All choices have ended, those that were asked for and those that were begun. Some compatible servers end there, without
   * `[DONE]`: the answer is whole all the same.
   */
  get isComplete(): boolean {
    return this.#finished.size >= this.choices && this.#hasEnded;
  }

  /** There is an answer, and all that was begun has a reason for its end. */
  get #hasEnded(): boolean {
    return this.#finished.size > 0 && this.#finished.size === this.#begun.size;
  }

  read({ name, data }: Extract<SseEvent, { kind: 'event' }>): readonly StreamEvent[] {
    if (data.trim() === '[DONE]') return this.#done();
    const value = parseObject(data);
    // Without the parser's own words: they quote the answer.
    if (value === undefined) throw new MalformedStreamError('an event that is not a JSON object');
    if (name === 'error' || hasError(value)) throw classifyInBand(this.provider, value, Date.now());
    for (const choice of choicesIn(value)) this.#readChoice(choice, value['usage']);
    return [{ kind: 'chunk', text: data, value }];
  }

  #readChoice(choice: JsonObject, usage: unknown): void {
    const index = typeof choice['index'] === 'number' ? choice['index'] : 0;
    this.#begun.add(index);
    if (saysSomething(choice['delta'])) this.#said.add(index);
    if (hasEnded(this.provider.name, choice, this.#said.has(index), usage)) this.#finished.add(index);
  }

  /** A server whose model fell over says that it is done too, and a caller would take what there is for the whole. */
  #done(): readonly StreamEvent[] {
    if (!this.#hasEnded) throw brokenUpstream(this.provider.name, 'ended its stream before the answer was complete');
    this.isDone = true;
    return [{ kind: 'done' }];
  }
}
