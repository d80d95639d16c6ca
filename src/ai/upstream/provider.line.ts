import { readRefusal, readText } from './body.reader.js';
import { brokenUpstream, classifyAnswer } from './failure.classifier.js';
import type { AttemptRequest } from './provider.adapter.js';
import type { UndiciTransport, UpstreamAnswer } from './undici.transport.js';
import { UpstreamFailure } from './upstream-failure.js';

/** What one kind of provider is sent. */
export interface ProviderMessage {
  readonly url: string;
  /** Those of this kind of provider, its credentials among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly accept: 'application/json' | 'text/event-stream';
  readonly body: string;
}

/**
 * A provider's refusal in OpenAI's shape, for the classifier.
 *
 * @param body - what came, parsed where it is JSON
 */
export type ErrorTranslator = (body: unknown, status: number) => unknown;

/** Carries an attempt to its provider, and turns whatever goes wrong on the way into a classified failure. */
export class ProviderLine {
  constructor(
    private readonly transport: UndiciTransport,
    private readonly toOpenAiError: ErrorTranslator = (body) => body,
  ) {}

  /**
   * Answers the provider's 2xx, its body unread.
   *
   * @throws UpstreamFailure for every other status and for a broken connection; the signal's reason once it is aborted
   */
  async post(attempt: AttemptRequest, message: ProviderMessage): Promise<UpstreamAnswer> {
    const { deployment, signal } = attempt;
    const answer = await this.send(attempt, message);
    attempt.heard(answer.headers);
    if (answer.status >= 200 && answer.status < 300) return answer;
    const text = await readRefusal(answer.body);
    signal.throwIfAborted();
    throw classifyAnswer({
      provider: deployment.upstream,
      status: answer.status,
      headers: answer.headers,
      body: this.toOpenAiError(parseJson(text), answer.status),
      now: Date.now(),
    });
  }

  /** Reads a whole answer. @throws UpstreamFailure where it breaks off; the signal's reason once it is aborted */
  async read({ body }: UpstreamAnswer, { signal, progressed, deployment }: AttemptRequest): Promise<string> {
    try {
      return await readText(body, progressed);
    } catch (error) {
      signal.throwIfAborted();
      throw brokenUpstream(deployment.upstream.name, 'broke off its answer', error);
    }
  }

  private async send(
    attempt: AttemptRequest,
    { url, headers, accept, body }: ProviderMessage,
  ): Promise<UpstreamAnswer> {
    const { signal, connectMs, requestId } = attempt;
    try {
      return await this.transport.send({
        method: 'POST',
        url,
        headers: {
          ...attempt.headers,
          accept,
          ...headers,
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
      throw connectionFailure(attempt, error);
    }
  }
}

/** Some servers forget to say that they stream, but none streams JSON. */
export function isJsonAnswer({ headers }: UpstreamAnswer): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && type.toLowerCase().startsWith('application/json');
}

function connectionFailure({ deployment, connectMs }: AttemptRequest, error: unknown): UpstreamFailure {
  const { name } = deployment.upstream;
  if (errorCode(error) === 'UND_ERR_CONNECT_TIMEOUT') {
    const message = `${name} took no connection within ${String(connectMs)} ms`;
    return new UpstreamFailure('upstream', 'timeout', message, { cause: error });
  }
  return brokenUpstream(name, isUnreached(error) ? 'could not be reached' : 'broke off the connection', error);
}

/** Nothing was sent: no name, no route, nobody listening. */
function isUnreached(error: unknown): boolean {
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(String(errorCode(error)));
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Undefined for what is not JSON: a page of HTML has no words for us. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
