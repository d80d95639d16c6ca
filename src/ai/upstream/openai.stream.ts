import type { Readable } from 'node:stream';
import { choiceIndexes, finishedChoices } from '../wire/chat-chunk.js';
import { MalformedStreamError, readEvents, type SseEvent } from '../wire/sse.reader.js';
import { brokenUpstream, classifyInBand, type FailedProvider } from './failure.classifier.js';
import type { StreamEvent } from './provider.adapter.js';
import { UpstreamFailure } from './upstream-failure.js';

/** How long a provider may keep the connection open after `[DONE]` before it is cut instead of reused. */
const TRAILER_MS = 1_000;

/** Reads OpenAI's chat completion stream; see `UpstreamStream.events` for what it guarantees. */
export async function* readChatStream(
  provider: FailedProvider,
  body: Readable,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamEvent[]> {
  const state = new StreamState(provider);
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

  constructor(private readonly provider: FailedProvider) {}

  /** All choices that were begun have ended. */
  get isComplete(): boolean {
    return this.#finished.size > 0 && this.#finished.size === this.#begun.size;
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
    if (name === 'error' || isError(value)) throw classifyInBand(this.provider, value, Date.now());
    for (const index of choiceIndexes(value)) this.#begun.add(index);
    for (const index of finishedChoices(value)) this.#finished.add(index);
    return { kind: 'chunk', text: data, value };
  }
}

function isError(value: Readonly<Record<string, unknown>>): boolean {
  return value['error'] !== undefined && value['error'] !== null;
}

function parseObject(data: string): Readonly<Record<string, unknown>> {
  const value: unknown = parse(data);
  if (isObject(value)) return value;
  throw new MalformedStreamError('an event that is not an object');
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw new MalformedStreamError('an event that is not JSON', { cause: error });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
