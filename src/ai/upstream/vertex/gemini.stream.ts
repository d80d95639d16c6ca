import { pipeline, type Readable } from 'node:stream';
import { isObject, parseJson } from '../../wire/json-value.js';
import { MalformedStreamError, type SseEvent } from '../../wire/sse.reader.js';
import { type EventReader, readEventStream } from '../event-stream.js';
import { classifyInBand, type FailedProvider, hasError } from '../failure.classifier.js';
import type { AttemptRequest, StreamEvent } from '../provider.adapter.js';
import { BareErrorStream } from './bare-error.stream.js';
import type { GeminiReader } from './gemini.reader.js';
import { openAiError } from './google.error.js';

/** Reads Gemini's stream; see `UpstreamStream.events` for what it guarantees. */
export function readGeminiStream(
  body: Readable,
  attempt: AttemptRequest,
  { reader, now }: { readonly reader: GeminiReader; readonly now: () => number },
): AsyncGenerator<readonly StreamEvent[]> {
  // What becomes of the two is the same, and is met where they are read.
  const events = pipeline(body, new BareErrorStream(), () => undefined);
  return readEventStream(events, attempt, new GeminiEvents(attempt.deployment.upstream, reader, now));
}

/** Server-sent events that hold one response each. The stream has no end of its own but the connection's. */
class GeminiEvents implements EventReader {
  readonly isDone = false;

  constructor(
    private readonly provider: FailedProvider,
    private readonly reader: GeminiReader,
    private readonly now: () => number,
  ) {}

  get isComplete(): boolean {
    return this.reader.isComplete;
  }

  read({ data }: Extract<SseEvent, { kind: 'event' }>): readonly StreamEvent[] {
    const value = parseJson(data);
    // An error may come in a list.
    const response: unknown = Array.isArray(value) ? value[0] : value;
    // Without the parser's own words: they quote the answer.
    if (!isObject(response)) throw new MalformedStreamError('an event that is not a JSON object');
    if (hasError(response)) {
      const { body, retryAfterMs } = openAiError(response);
      throw classifyInBand(this.provider, body, this.now(), retryAfterMs);
    }
    return this.reader.read(response).map((chunk) => ({ kind: 'chunk', text: JSON.stringify(chunk), value: chunk }));
  }
}
