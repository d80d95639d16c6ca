import { forwardedResponseHeaders } from '../../http/index.js';
import { type Edit, editObject } from '../wire/json-text.js';
import { readWhole } from './event-stream.js';
import { foreignSignatureEdits } from './foreign-signatures.js';
import { checkedCompletion } from './openai.answer.js';
import { readChatStream } from './openai.stream.js';
import type { AttemptRequest, ProviderAdapter, UpstreamReply, UpstreamStream } from './provider.adapter.js';
import { ProviderLine, type ProviderMessage } from './provider.line.js';
import type { UndiciTransport, UpstreamAnswer } from './undici.transport.js';

/** Where an OpenAI-compatible provider takes completions, and with which credentials. */
export type ChatAddress = (attempt: AttemptRequest) => Pick<ProviderMessage, 'url' | 'headers'>;

const openAiAddress: ChatAddress = ({ deployment: { upstream } }) => ({
  url: `${upstream.baseUrl}/chat/completions`,
  headers: { authorization: `Bearer ${upstream.apiKey}` },
});

/** OpenAI's wire format: OpenAI itself, HolySheep, DeepSeek, vLLM, Ollama, the simulator; Azure under another address. */
export class OpenAiAdapter implements ProviderAdapter {
  readonly #line: ProviderLine;

  constructor(
    transport: UndiciTransport,
    private readonly address: ChatAddress = openAiAddress,
  ) {
    this.#line = new ProviderLine(transport);
  }

  /** It is the caller's own format: the provider is the judge of it. */
  untranslatable(): undefined {
    return undefined;
  }

  async complete(attempt: AttemptRequest): Promise<UpstreamReply> {
    const { name } = attempt.deployment.upstream;
    const answer = await this.send(attempt, 'application/json', {});
    const { text, value } = await this.#line.read(answer, attempt);
    const completion = readWhole(name, () => checkedCompletion(name, value));
    return { text, value: completion, headers: forwardedResponseHeaders(answer.headers) };
  }

  async stream(attempt: AttemptRequest): Promise<UpstreamStream> {
    const answer = await this.send(attempt, 'text/event-stream', { stream_options: withUsage });
    const body = await this.#line.streamOf(answer, attempt);
    return { headers: forwardedResponseHeaders(answer.headers), events: readChatStream(body, attempt) };
  }

  private send(
    attempt: AttemptRequest,
    accept: ProviderMessage['accept'],
    edits: Readonly<Record<string, Edit>>,
  ): Promise<UpstreamAnswer> {
    const { model } = attempt.deployment;
    const signatures = foreignSignatureEdits(attempt.bodyText, model);
    const body = editObject(attempt.bodyText, { model: JSON.stringify(model), ...signatures, ...edits });
    return this.#line.post(attempt, { accept, body, ...this.address(attempt) });
  }
}

/** Usage is always asked for; what the caller did not ask for is taken out of the stream again. */
function withUsage(streamOptions: string | undefined): string {
  return streamOptions?.startsWith('{') === true
    ? editObject(streamOptions, { include_usage: 'true' })
    : '{"include_usage":true}';
}
