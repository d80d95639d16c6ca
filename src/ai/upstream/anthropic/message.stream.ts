import type { Readable } from 'node:stream';
import { parseObject } from '../../wire/json-value.js';
import { MalformedStreamError, type SseEvent } from '../../wire/sse.reader.js';
import { type EventReader, readEventStream } from '../event-stream.js';
import { classifyInBand, type FailedProvider } from '../failure.classifier.js';
import type { AttemptRequest, StreamEvent } from '../provider.adapter.js';
import { openAiError } from './error.translator.js';
import type { Chunk, MessageReader } from './message.reader.js';

/** Reads a stream of the Messages API; see `UpstreamStream.events` for what it guarantees. */
export function readMessageStream(
  body: Readable,
  attempt: AttemptRequest,
  message: MessageReader,
): AsyncGenerator<readonly StreamEvent[]> {
  return readEventStream(body, attempt, new MessageEvents(attempt.deployment.upstream, message));
}

class MessageEvents implements EventReader {
  /** Nothing but `message_stop` says that a message is complete. */
  readonly isComplete = false;

  constructor(
    private readonly provider: FailedProvider,
    private readonly message: MessageReader,
  ) {}

  get isDone(): boolean {
    return this.message.isDone;
  }

  read({ name, data }: Extract<SseEvent, { kind: 'event' }>): readonly StreamEvent[] {
    const value = parseObject(data);
    // Without the parser's own words: they quote the answer.
    if (value === undefined) throw new MalformedStreamError('an event that is not a JSON object');
    if (name === 'error' || value['type'] === 'error') {
      throw classifyInBand(this.provider, openAiError(value), Date.now());
    }
    // Its own kind of keep-alive: no sign that the model has begun.
    if (value['type'] === 'ping') return [{ kind: 'comment' }];
    const chunks = this.message.read(value).map((chunk) => toEvent(chunk));
    return this.isDone ? [...chunks, { kind: 'done' }] : chunks;
  }
}

function toEvent(value: Chunk): StreamEvent {
  return { kind: 'chunk', text: JSON.stringify(value), value };
}
