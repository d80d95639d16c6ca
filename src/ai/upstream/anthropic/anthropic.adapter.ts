import type { Readable } from 'node:stream';
import { forwardedResponseHeaders } from '../../../http/index.js';
import { hasContent } from '../../wire/chat-chunk.js';
import type { JsonObject } from '../../wire/json-value.js';
import { MalformedStreamError } from '../../wire/sse.reader.js';
import { readWhole } from '../event-stream.js';
import type {
  AttemptRequest,
  ProviderAdapter,
  StreamEvent,
  Untranslatable,
  UpstreamReply,
  UpstreamStream,
} from '../provider.adapter.js';
import { isJsonAnswer, ProviderLine, type ProviderMessage } from '../provider.line.js';
import type { UndiciTransport, UpstreamAnswer } from '../undici.transport.js';
import { CompletionCollector } from './completion.collector.js';
import { openAiError } from './error.translator.js';
import { withExactInputs } from './exact-inputs.js';
import { eventsOf, MessageReader } from './message.reader.js';
import { readMessageStream } from './message.stream.js';
import { translated, untranslatableIn } from '../untranslatable.error.js';
import { messagesRequest, type MessagesRequest } from './request.translator.js';

/**
 * Not its successor, 2026-10-21: that one refuses temperature, top_p and top_k, and changes nothing else that is said here
 * (https://platform.claude.com/docs/en/api/versioning).
 */
const API_VERSION = '2023-06-01';

/**
 * The largest `max_tokens` with which an answer surely comes within the ten minutes that networks let a silent connection live: the
 * official clients refuse to wait for more without a stream (their reckoning is 128,000 tokens an hour).
 */
const LONGEST_UNSTREAMED_TOKENS = 21_333;

/** Anthropic's Messages API. */
export class AnthropicAdapter implements ProviderAdapter {
  readonly #line: ProviderLine;

  /** @param now - Unix milliseconds: the Messages API does not say when an answer was made */
  constructor(
    transport: UndiciTransport,
    private readonly now: () => number = Date.now,
  ) {
    this.#line = new ProviderLine(transport, (body) => ({ body: openAiError(body) }), now);
  }

  untranslatable(body: JsonObject): Untranslatable | undefined {
    // Of these two nothing but an effort depends, which is told when the model is known.
    return untranslatableIn(() => messagesRequest(body, { model: '', maxOutputTokens: Number.POSITIVE_INFINITY }));
  }

  async complete(attempt: AttemptRequest): Promise<UpstreamReply> {
    const request = translatedRequest(attempt);
    const answer = await this.send(attempt, request, request.maxTokens > LONGEST_UNSTREAMED_TOKENS);
    const value = isJsonAnswer(answer)
      ? await this.completionOf(answer, attempt)
      : await collect(this.events(answer.body, attempt), attempt.progressed);
    return { text: JSON.stringify(value), value, headers: forwardedResponseHeaders(answer.headers) };
  }

  async stream(attempt: AttemptRequest): Promise<UpstreamStream> {
    const answer = await this.send(attempt, translatedRequest(attempt), true);
    const body = await this.#line.streamOf(answer, attempt);
    return { headers: forwardedResponseHeaders(answer.headers), events: this.events(body, attempt) };
  }

  private send(attempt: AttemptRequest, request: MessagesRequest, isStream: boolean): Promise<UpstreamAnswer> {
    const { upstream } = attempt.deployment;
    const accept: ProviderMessage['accept'] = isStream ? 'text/event-stream' : 'application/json';
    return this.#line.post(attempt, {
      url: `${upstream.baseUrl}/messages`,
      headers: { 'x-api-key': upstream.apiKey, 'anthropic-version': API_VERSION },
      accept,
      body: request.text(isStream),
    });
  }

  private async completionOf(answer: UpstreamAnswer, attempt: AttemptRequest): Promise<JsonObject> {
    const { text, value } = await this.#line.read(answer, attempt);
    return readWhole(attempt.deployment.upstream.name, () => completionFrom(text, value, this.reader(attempt)));
  }

  private events(body: Readable, attempt: AttemptRequest): AsyncIterable<readonly StreamEvent[]> {
    return readMessageStream(body, attempt, this.reader(attempt));
  }

  private reader({ deployment }: AttemptRequest): MessageReader {
    return new MessageReader(deployment.upstream.name, Math.floor(this.now() / 1_000));
  }
}

function translatedRequest({ body, deployment: { model }, maxOutputTokens }: AttemptRequest): MessagesRequest {
  return translated(() => messagesRequest(body, { model, maxOutputTokens }));
}

function completionFrom(text: string, message: JsonObject | undefined, reader: MessageReader): JsonObject {
  if (message?.['type'] !== 'message' || !Array.isArray(message['content'])) {
    throw new MalformedStreamError('an answer that is no message');
  }
  const collector = new CompletionCollector();
  for (const event of eventsOf(withExactInputs(text, message))) {
    for (const chunk of reader.read(event)) collector.add(chunk);
  }
  return collector.completion();
}

async function collect(groups: AsyncIterable<readonly StreamEvent[]>, progressed: () => void): Promise<JsonObject> {
  const collector = new CompletionCollector();
  for await (const group of groups) {
    const chunks = group.filter((event) => event.kind === 'chunk');
    // Neither a ping nor the head of a message is progress.
    if (chunks.some(({ value }) => hasContent(value))) progressed();
    for (const { value } of chunks) collector.add(value);
  }
  return collector.completion();
}
