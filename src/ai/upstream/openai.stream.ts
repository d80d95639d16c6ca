import type { Readable } from 'node:stream';
import { choiceIndexes, finishedChoices } from '../wire/chat-chunk.js';
import { MalformedStreamError, readEvents, type SseEvent } from '../wire/sse.reader.js';
import { parseObject } from '../wire/json-value.js';
import { brokenUpstream, classifyInBand, type FailedProvider, hasError } from './failure.classifier.js';
import type { AttemptRequest, StreamEvent } from './provider.adapter.js';
import { UpstreamFailure } from './upstream-failure.js';

/** How long a provider may keep the connection open after `[DONE]` before it is cut instead of reused. */
const TRAILER_MS = 1_000;

/** Reads OpenAI's chat completion stream; see `UpstreamStream.events` for what it guarantees. */
export async function* readChatStream(
  body: Readable,
  { deployment, choices, signal }: AttemptRequest,
): AsyncGenerator<readonly StreamEvent[]> {
  const provider = deployment.upstream;
  const state = new StreamState(provider, choices);
  try {
    // The body outlives the iteration, so that a connection whose answer is complete goes back to the pool.
    for await (const group of readEvents(body.iterator({ destroyOnReturn: false }))) {
      const events = state.accept(group);
      yield events;
      if (state.fault !== undefined) throw state.failure(state.fault);
      if (state.isDone) return;
    }
    if (!state.isComplete) throw brokenUpstream(provider.name, 'ended its stream before the answer was complete');
    // Some compatible servers end after the last choice without `[DONE]`: the answer is whole all the same.
    yield [{ kind: 'done' }];
  } catch (error) {
    signal.throwIfAborted();
    throw state.failure(error);
  } finally {
    release(body, state.isDone);
  }
}

class StreamState {
  isDone = false;
  /** Why the stream can't go on: thrown once the events before it have been delivered. */
  fault: unknown;
  readonly #begun = new Set<number>();
  readonly #finished = new Set<number>();

  constructor(
    private readonly provider: FailedProvider,
    private readonly choices: number,
  ) {}

  /** All choices have ended, those that were asked for and those that were begun. */
  get isComplete(): boolean {
    return this.#finished.size >= this.choices && this.#finished.size === this.#begun.size;
  }

  accept(group: readonly SseEvent[]): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    try {
      for (const event of group) {
        if (this.isDone) break;
        events.push(event.kind === 'comment' ? event : this.read(event));
      }
    } catch (error) {
      this.fault = error;
    }
    return events;
  }

  failure(error: unknown): UpstreamFailure {
    if (error instanceof UpstreamFailure) return error;
    const fact =
      error instanceof MalformedStreamError ? 'sent something that is not a completion stream' : 'broke off its stream';
    return brokenUpstream(this.provider.name, fact, error);
  }

  private read({ name, data }: Extract<SseEvent, { kind: 'event' }>): StreamEvent {
    if (data.trim() === '[DONE]') {
      this.isDone = true;
      return { kind: 'done' };
    }
    const value = parseObject(data);
    // Without the parser's own words: they quote the answer.
    if (value === undefined) throw new MalformedStreamError('an event that is not a JSON object');
    if (name === 'error' || hasError(value)) throw classifyInBand(this.provider, value, Date.now());
    for (const index of choiceIndexes(value)) this.#begun.add(index);
    for (const index of finishedChoices(value)) this.#finished.add(index);
    return { kind: 'chunk', text: data, value };
  }
}

/** Gives a finished connection back to the pool, and cuts any other. */
function release(body: Readable, isDone: boolean): void {
  // What happens to the connection from here on is no news: its answer is delivered, or its failure is known.
  body.on('error', () => undefined);
  if (!isDone || body.readableEnded) {
    body.destroy();
    return;
  }
  const timer = setTimeout(() => body.destroy(), TRAILER_MS);
  body
    .once('close', () => {
      clearTimeout(timer);
    })
    .resume();
}
