import { forwardedResponseHeaders } from '../../http/index.js';
import { type Edit, editObject } from '../wire/json-text.js';
import { parseObject } from '../wire/json-value.js';
import { readRefusal, readText } from './body.reader.js';
import { brokenUpstream, classifyAnswer, classifyInBand, hasError } from './failure.classifier.js';
import { readChatStream } from './openai.stream.js';
import type { AttemptRequest, ProviderAdapter, UpstreamReply, UpstreamStream } from './provider.adapter.js';
import type { UpstreamHeaders } from './retry-after.js';
import type { UndiciTransport, UpstreamAnswer } from './undici.transport.js';
import { UpstreamFailure } from './upstream-failure.js';

/** OpenAI's wire format: OpenAI itself, HolySheep, DeepSeek, vLLM, Ollama, the simulator. */
export class OpenAiAdapter implements ProviderAdapter {
  constructor(private readonly transport: UndiciTransport) {}

  async complete(attempt: AttemptRequest): Promise<UpstreamReply> {
    const { upstream } = attempt.deployment;
    const answer = await this.send(attempt, 'application/json', {});
    const text = await readReply(answer, attempt);
    const value = parseObject(text);
    if (hasError(value)) throw classifyInBand(upstream, value, Date.now());
    if (!Array.isArray(value?.['choices'])) {
      throw brokenUpstream(upstream.name, 'answered with something that is not a chat completion');
    }
    return { text, value, headers: forwardedResponseHeaders(answer.headers) };
  }

  async stream(attempt: AttemptRequest): Promise<UpstreamStream> {
    const { upstream } = attempt.deployment;
    const answer = await this.send(attempt, 'text/event-stream', { stream_options: withUsage });
    if (isJson(answer.headers)) {
      const value = parseObject(await readReply(answer, attempt));
      if (hasError(value)) throw classifyInBand(upstream, value, Date.now());
      throw brokenUpstream(upstream.name, 'answered a request for a stream with something else');
    }
    return {
      headers: forwardedResponseHeaders(answer.headers),
      events: readChatStream(answer.body, attempt),
    };
  }

  /** Answers the provider's 2xx; every other status is thrown as a classified failure. */
  private async send(
    attempt: AttemptRequest,
    accept: string,
    edits: Readonly<Record<string, Edit>>,
  ): Promise<UpstreamAnswer> {
    const { deployment, signal } = attempt;
    const model = JSON.stringify(deployment.model);
    const answer = await this.post(attempt, accept, editObject(attempt.bodyText, { ...edits, model }));
    if (answer.status >= 200 && answer.status < 300) return answer;
    const text = await readRefusal(answer.body);
    signal.throwIfAborted();
    throw classifyAnswer({
      provider: deployment.upstream,
      status: answer.status,
      headers: answer.headers,
      body: parseObject(text),
      now: Date.now(),
    });
  }

  private async post(attempt: AttemptRequest, accept: string, body: string): Promise<UpstreamAnswer> {
    const { deployment, signal, connectMs, headers, requestId } = attempt;
    const { baseUrl, apiKey, name } = deployment.upstream;
    try {
      return await this.transport.send({
        method: 'POST',
        url: `${baseUrl}/chat/completions`,
        headers: {
          ...headers,
          accept,
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          'user-agent': 'ai-api-coordinator',
          'x-request-id': requestId,
        },
        body,
        connectMs,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      if (errorCode(error) === 'UND_ERR_CONNECT_TIMEOUT') {
        const message = `${name} took no connection within ${String(connectMs)} ms`;
        throw new UpstreamFailure('upstream', 'timeout', message, { cause: error });
      }
      throw brokenUpstream(name, isUnreached(error) ? 'could not be reached' : 'broke off the connection', error);
    }
  }
}

/** Usage is always asked for; what the caller did not ask for is taken out of the stream again. */
function withUsage(streamOptions: string | undefined): string {
  return streamOptions?.startsWith('{') === true
    ? editObject(streamOptions, { include_usage: 'true' })
    : '{"include_usage":true}';
}

async function readReply(
  { body }: UpstreamAnswer,
  { signal, progressed, deployment }: AttemptRequest,
): Promise<string> {
  try {
    return await readText(body, progressed);
  } catch (error) {
    signal.throwIfAborted();
    throw brokenUpstream(deployment.upstream.name, 'broke off its answer', error);
  }
}

/** Some servers forget to say that they stream, but none streams JSON. */
function isJson(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && type.toLowerCase().startsWith('application/json');
}

/** Nothing was sent: no name, no route, nobody listening. */
function isUnreached(error: unknown): boolean {
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(String(errorCode(error)));
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
