import type { Readable } from 'node:stream';
import { forwardedResponseHeaders } from '../../../http/index.js';
import { hasContent } from '../../wire/chat-chunk.js';
import { parseObject, type JsonObject } from '../../wire/json-value.js';
import { MalformedStreamError } from '../../wire/sse.reader.js';
import { brokenUpstream, classifyInBand, hasError } from '../failure.classifier.js';
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
import { UpstreamFailure } from '../upstream-failure.js';
import { CompletionCollector } from './completion.collector.js';
import { openAiError } from './error.translator.js';
import { withExactInputs } from './exact-inputs.js';
import { eventsOf, MessageReader } from './message.reader.js';
import { readMessageStream } from './message.stream.js';
import { UntranslatableError } from '../untranslatable.error.js';
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
    this.#line = new ProviderLine(transport, openAiError);
  }

  untranslatable(body: JsonObject): Untranslatable | undefined {
    try {
      // Of these two nothing but an effort depends, which is told when the model is known.
      messagesRequest(body, { model: '', maxOutputTokens: Number.POSITIVE_INFINITY });
      return undefined;
    } catch (error) {
      if (error instanceof UntranslatableError) return { param: error.param, why: error.why };
      throw error;
    }
  }

  async complete(attempt: AttemptRequest): Promise<UpstreamReply> {
    const request = this.translate(attempt);
    const isStreamed = request.maxTokens > LONGEST_UNSTREAMED_TOKENS;
    const answer = await this.send(attempt, request, isStreamed);
    const value = isJsonAnswer(answer)
      ? await this.completionOf(answer, attempt)
      : await collect(this.events(answer.body, attempt), attempt.progressed);
    return { text: JSON.stringify(value), value, headers: forwardedResponseHeaders(answer.headers) };
  }

  async stream(attempt: AttemptRequest): Promise<UpstreamStream> {
    const { upstream } = attempt.deployment;
    const answer = await this.send(attempt, this.translate(attempt), true);
    if (isJsonAnswer(answer)) {
      const value = parseObject(await this.#line.read(answer, attempt));
      if (hasError(value)) throw classifyInBand(upstream, openAiError(value), this.now());
      throw brokenUpstream(upstream.name, 'answered a request for a stream with something else');
    }
    return { headers: forwardedResponseHeaders(answer.headers), events: this.events(answer.body, attempt) };
  }

  private translate({ body, deployment, maxOutputTokens }: AttemptRequest): MessagesRequest {
    try {
      return messagesRequest(body, { model: deployment.model, maxOutputTokens });
    } catch (error) {
      if (!(error instanceof UntranslatableError)) throw error;
      throw new UpstreamFailure('request', 'unprocessable', error.message, { param: error.param });
    }
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
    const { upstream } = attempt.deployment;
    const text = await this.#line.read(answer, attempt);
    const value = parseObject(text);
    if (hasError(value)) throw classifyInBand(upstream, openAiError(value), this.now());
    try {
      return completionFrom(text, value, this.reader(attempt));
    } catch (error) {
      if (!(error instanceof MalformedStreamError)) throw error;
      throw brokenUpstream(upstream.name, 'answered with something that is not a message', error);
    }
  }

  private events(body: Readable, attempt: AttemptRequest): AsyncIterable<readonly StreamEvent[]> {
    return readMessageStream(body, attempt, this.reader(attempt));
  }

  private reader({ deployment }: AttemptRequest): MessageReader {
    return new MessageReader(deployment.upstream.name, Math.floor(this.now() / 1_000));
  }
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
