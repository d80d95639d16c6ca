import { parseObject } from '../../wire/json-value.js';
import { MalformedStreamError, type SseEvent } from '../../wire/sse.reader.js';
import type { EventReader } from '../event-stream.js';
import { classifyAnswer, type FailedProvider, hasError } from '../failure.classifier.js';
import type { StreamEvent } from '../provider.adapter.js';
import type { UpstreamFailure } from '../upstream-failure.js';
import type { GeminiReader } from './gemini.reader.js';
import { openAiError, retryDelayMs, statusOf } from './google.error.js';
import { withRetryAfter } from './vertex.line.js';

/** Gemini's server-sent events: one response each. The stream has no end of its own but the connection's. */
export class GeminiEvents implements EventReader {
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
    const response = parseObject(data);
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
