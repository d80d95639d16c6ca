import { forwardedResponseHeaders } from '../../../http/index.js';
import type { JsonObject } from '../../wire/json-value.js';
import { MalformedStreamError } from '../../wire/sse.reader.js';
import { writeJson } from '../../wire/raw-json.js';
import { brokenUpstream, hasError } from '../failure.classifier.js';
import type {
  AttemptRequest,
  ProviderAdapter,
  Untranslatable,
  UpstreamReply,
  UpstreamStream,
} from '../provider.adapter.js';
import { isJsonAnswer, ProviderLine } from '../provider.line.js';
import type { UndiciTransport, UpstreamAnswer } from '../undici.transport.js';
import { UntranslatableError } from '../untranslatable.error.js';
import { UpstreamFailure } from '../upstream-failure.js';
import { GeminiReader } from './gemini.reader.js';
import { geminiRequest } from './gemini.request.js';
import { failureIn, readGeminiStream } from './gemini.stream.js';
import { parseResponse } from './google.error.js';
import { VertexLine } from './vertex.line.js';

/** Gemini on Google's Vertex AI, in its own format. */
export class VertexAdapter implements ProviderAdapter {
  readonly #line: VertexLine;
  readonly #answers: ProviderLine;

  /** @param now - Unix milliseconds: when tokens are renewed, and when an answer was made that does not say it */
  constructor(
    transport: UndiciTransport,
    private readonly now: () => number = Date.now,
  ) {
    this.#line = new VertexLine(transport, now);
    this.#answers = new ProviderLine(transport);
  }

  untranslatable(body: JsonObject): Untranslatable | undefined {
    try {
      // What depends on the model is an effort, which is told when the model is known.
      geminiRequest(body, '');
      return undefined;
    } catch (error) {
      if (error instanceof UntranslatableError) return { param: error.param, why: error.why };
      throw error;
    }
  }

  async complete(attempt: AttemptRequest): Promise<UpstreamReply> {
    const { upstream } = attempt.deployment;
    const answer = await this.send(attempt, 'generateContent');
    const response = parseResponse(await this.#answers.read(answer, attempt));
    if (hasError(response)) throw failureIn(upstream, response, this.now());
    const value = this.completionOf(response, attempt);
    return { text: JSON.stringify(value), value, headers: forwardedResponseHeaders(answer.headers) };
  }

  async stream(attempt: AttemptRequest): Promise<UpstreamStream> {
    const { upstream } = attempt.deployment;
    // Without alt=sse the answer would be one JSON list.
    const answer = await this.send(attempt, 'streamGenerateContent?alt=sse');
    if (isJsonAnswer(answer)) {
      const response = parseResponse(await this.#answers.read(answer, attempt));
      if (hasError(response)) throw failureIn(upstream, response, this.now());
      throw brokenUpstream(upstream.name, 'answered a request for a stream with something else');
    }
    return {
      headers: forwardedResponseHeaders(answer.headers),
      events: readGeminiStream(answer.body, attempt, { reader: this.reader(attempt), now: this.now }),
    };
  }

  private completionOf(response: JsonObject | undefined, attempt: AttemptRequest): JsonObject {
    try {
      if (response === undefined) throw new MalformedStreamError('an answer that is no JSON object');
      return this.reader(attempt).readWhole(response);
    } catch (error) {
      if (!(error instanceof MalformedStreamError)) throw error;
      const { name } = attempt.deployment.upstream;
      throw brokenUpstream(name, 'answered with something that is not a whole answer', error);
    }
  }

  private async send(attempt: AttemptRequest, method: string): Promise<UpstreamAnswer> {
    const { upstream, model } = attempt.deployment;
    const name = model.replace(/^google\//, '');
    return this.#line.post(attempt, {
      url: `${upstream.baseUrl}/publishers/google/models/${encodeURIComponent(name)}:${method}`,
      headers: {},
      accept: method.startsWith('stream') ? 'text/event-stream' : 'application/json',
      body: writeJson(translated(attempt)),
    });
  }

  private reader({ deployment, choices }: AttemptRequest): GeminiReader {
    const { upstream, model } = deployment;
    return new GeminiReader({ provider: upstream.name, model, choices, now: Math.floor(this.now() / 1_000) });
  }
}

function translated({ body, deployment }: AttemptRequest): JsonObject {
  try {
    return geminiRequest(body, deployment.model);
  } catch (error) {
    if (!(error instanceof UntranslatableError)) throw error;
    throw new UpstreamFailure('request', 'unprocessable', error.message, { param: error.param, cause: error });
  }
}
