import { forwardedResponseHeaders } from '../../../http/index.js';
import type { JsonObject } from '../../wire/json-value.js';
import { writeJson } from '../../wire/raw-json.js';
import { readWhole } from '../event-stream.js';
import type {
  AttemptRequest,
  ProviderAdapter,
  Untranslatable,
  UpstreamReply,
  UpstreamStream,
} from '../provider.adapter.js';
import { ProviderLine } from '../provider.line.js';
import type { UndiciTransport } from '../undici.transport.js';
import { translated, untranslatableIn } from '../untranslatable.error.js';
import { GeminiReader } from './gemini.reader.js';
import { geminiRequest } from './gemini.request.js';
import { readGeminiStream } from './gemini.stream.js';
import { openAiError } from './google.error.js';
import { type AnsweredAttempt, VertexLine } from './vertex.line.js';

/** Gemini on Google's Vertex AI, in its own format. */
export class VertexAdapter implements ProviderAdapter {
  readonly #line: ProviderLine;
  readonly #door: VertexLine;

  /** @param now - Unix milliseconds: when tokens are renewed, and when an answer was made that does not say it */
  constructor(
    transport: UndiciTransport,
    private readonly now: () => number = Date.now,
  ) {
    this.#line = new ProviderLine(transport, openAiError, now);
    this.#door = new VertexLine(this.#line, now);
  }

  untranslatable(body: JsonObject): Untranslatable | undefined {
    // What depends on the model is an effort, which is told when the model is known.
    return untranslatableIn(() => geminiRequest(body, ''));
  }

  async complete(attempt: AttemptRequest): Promise<UpstreamReply> {
    const { answer, attempt: sent } = await this.send(attempt, 'generateContent');
    const { value: response } = await this.#line.read(answer, sent);
    const value = readWhole(attempt.deployment.upstream.name, () => this.reader(attempt).readWhole(response));
    return { text: JSON.stringify(value), value, headers: forwardedResponseHeaders(answer.headers) };
  }

  async stream(attempt: AttemptRequest): Promise<UpstreamStream> {
    // Without alt=sse the answer would be one JSON list.
    const { answer, attempt: sent } = await this.send(attempt, 'streamGenerateContent?alt=sse');
    const body = await this.#line.streamOf(answer, sent);
    return {
      headers: forwardedResponseHeaders(answer.headers),
      events: readGeminiStream(body, sent, { reader: this.reader(attempt), now: this.now }),
    };
  }

  private async send(attempt: AttemptRequest, method: string): Promise<AnsweredAttempt> {
    const { upstream, model } = attempt.deployment;
    const name = model.replace(/^google\//, '');
    return this.#door.post(attempt, {
      url: `${upstream.baseUrl}/publishers/google/models/${encodeURIComponent(name)}:${method}`,
      headers: {},
      accept: method.startsWith('stream') ? 'text/event-stream' : 'application/json',
      body: writeJson(translated(() => geminiRequest(attempt.body, model))),
    });
  }

  private reader({ deployment, choices }: AttemptRequest): GeminiReader {
    const { upstream, model } = deployment;
    return new GeminiReader({ provider: upstream.name, model, choices, now: Math.floor(this.now() / 1_000) });
  }
}
