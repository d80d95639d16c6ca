import { pipeline, type Readable } from 'node:stream';
import { MalformedStreamError, type SseEvent } from '../../wire/sse.reader.js';
import { type EventReader, readEventStream } from '../event-stream.js';
import { classifyAnswer, type FailedProvider, hasError } from '../failure.classifier.js';
import type { AttemptRequest, StreamEvent } from '../provider.adapter.js';
import type { UpstreamFailure } from '../upstream-failure.js';
import { BareErrorStream } from './bare-error.stream.js';
import type { GeminiReader } from './gemini.reader.js';
import { openAiError, parseResponse, retryDelayMs, statusOf } from './google.error.js';
import { withRetryAfter } from './vertex.line.js';

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
    const response = parseResponse(data);
    // Without the parser's own words: they quote the answer.
    if (response === undefined) throw new MalformedStreamError('an event that is not a JSON object');
    if (hasError(response)) throw failureIn(this.provider, response, this.now());
    return this.reader.read(response).map((value) => ({ kind: 'chunk', text: JSON.stringify(value), value }));
  }
}

/** The failure that an error inside a 200 tells. */
export function failureIn(provider: FailedProvider, body: unknown, now: number): UpstreamFailure {
  const failure = classifyAnswer({ provider, status: statusOf(body), headers: {}, body: openAiError(body), now });
  return withRetryAfter(failure, retryDelayMs(body));
}
