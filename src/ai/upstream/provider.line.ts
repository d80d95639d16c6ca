import type { Readable } from 'node:stream';
import { isObject, type JsonObject, parseJson } from '../wire/json-value.js';
import { readRefusal, readText } from './body.reader.js';
import { brokenUpstream, classifyAnswer, classifyInBand, hasError } from './failure.classifier.js';
import type { AttemptRequest } from './provider.adapter.js';
import { LateSendError } from './sending.js';
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

/** A provider's error in OpenAI's shape, for the classifier. */
export interface TranslatedError {
  readonly body: unknown;
  /** How long the provider asks to wait, ms, where it does not say so in a header. */
  readonly retryAfterMs?: number | undefined;
}

/** @param body - what came, parsed where it is JSON */
export type ErrorTranslator = (body: unknown) => TranslatedError;

/** Carries an attempt to its provider, and turns whatever goes wrong on the way into a classified failure. */
export class ProviderLine {
  /** @param now - Unix milliseconds: for a Retry-After that is a date */
  constructor(
    private readonly transport: UndiciTransport,
    private readonly translate: ErrorTranslator = (body) => ({ body }),
    private readonly now: () => number = Date.now,
  ) {}

  /**
   * Answers the provider's 2xx, its body unread.
   *
   * @throws UpstreamFailure for every other status and for a broken connection; the signal's reason once it is aborted
   */
  async post(attempt: AttemptRequest, message: ProviderMessage): Promise<UpstreamAnswer> {
    const answer = await this.send(attempt, message);
    if (isRefusal(answer)) throw await this.failureOf(answer, attempt);
    return answer;
  }

  /** What a refusal tells. @throws the signal's reason once it is aborted */
  async failureOf({ status, headers, body }: UpstreamAnswer, attempt: AttemptRequest): Promise<UpstreamFailure> {
    const said = this.translate(parseJson(await readRefusal(body)));
    attempt.signal.throwIfAborted();
    const provider = attempt.deployment.upstream;
    return classifyAnswer({ provider, status, headers, body: said.body, toldMs: said.retryAfterMs, now: this.now() });
  }

  /**
   * Reads a whole answer.
   *
   * @returns `value`: undefined where it is no JSON object
   * @throws UpstreamFailure where it breaks off, and for an error in its place; the signal's reason once it is aborted
   */
  async read(
    answer: UpstreamAnswer,
    attempt: AttemptRequest,
  ): Promise<{ readonly text: string; readonly value: JsonObject | undefined }> {
    const text = await readBody(answer, attempt);
    const body = parseJson(text);
    if (hasError(Array.isArray(body) ? body[0] : body)) {
      const said = this.translate(body);
      throw classifyInBand(attempt.deployment.upstream, said.body, this.now(), said.retryAfterMs);
    }
    return { text, value: isObject(body) ? body : undefined };
  }

  /** The body of an answer that is a stream. @throws UpstreamFailure for JSON in its place; else as `read` does */
  async streamOf(answer: UpstreamAnswer, attempt: AttemptRequest): Promise<Readable> {
    if (!isJsonAnswer(answer)) return answer.body;
    await this.read(answer, attempt);
    const { name } = attempt.deployment.upstream;
    throw brokenUpstream(name, 'answered a request for a stream with something else');
  }

  /**
   * Answers whatever the provider says, its body unread.
   *
   * @throws UpstreamFailure for a broken connection; LateSendError; the signal's reason once it is aborted
   */
  async send(attempt: AttemptRequest, { url, headers, accept, body }: ProviderMessage): Promise<UpstreamAnswer> {
    const { signal, connectMs, requestId, sending } = attempt;
    const sent = this.transport.send({
      method: 'POST',
      url,
      headers: {
        accept,
        ...attempt.headers,
        ...headers,
        'content-type': 'application/json',
        'user-agent': 'ai-api-coordinator',
        'x-request-id': requestId,
      },
      body,
      connectMs,
      signal,
      sending,
    });
    const answer = await sent.catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof LateSendError) throw error;
      throw connectionFailure(attempt, error);
    });
    attempt.heard(answer.headers);
    return answer;
  }
}

export function isRefusal({ status }: UpstreamAnswer): boolean {
  return status < 200 || status >= 300;
}

async function readBody({ body }: UpstreamAnswer, { signal, progressed, deployment }: AttemptRequest): Promise<string> {
  try {
    return await readText(body, progressed);
  } catch (error) {
    signal.throwIfAborted();
    throw brokenUpstream(deployment.upstream.name, 'broke off its answer', error);
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
  if (isUnaskedContinue(error)) return brokenUpstream(name, 'said 100 Continue, which nobody had asked for', error);
  return brokenUpstream(name, isUnreached(error) ? 'could not be reached' : 'broke off the connection', error);
}

/** RFC 9110 section 15.2 has a client pass over it; undici ends the connection, and has no setting for that. */
function isUnaskedContinue(error: unknown): boolean {
  return errorCode(error) === 'UND_ERR_SOCKET' && error instanceof Error && error.message === 'bad response';
}

/** Nothing was sent: no name, no route, nobody listening, or an address that is not connected to. */
function isUnreached(error: unknown): boolean {
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ERR_ADDRESS_REFUSED)$/.test(
    String(errorCode(error)),
  );
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
