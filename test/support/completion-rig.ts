import { startCoordinator, type Coordinator, type CoordinatorOptions } from './coordinator.js';
import { startScriptedUpstream, type ScriptedUpstream } from './scripted-upstream.js';

export const messages = [{ role: 'user', content: 'Hi' }];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty where the answer is no JSON. */
  readonly body: Record<string, unknown>;
}

/** A coordinator before one scripted provider, and a raw client of it. */
export class CompletionRig {
  private constructor(
    readonly upstream: ScriptedUpstream,
    readonly coordinator: Coordinator,
  ) {}

  static async start(options: Omit<CoordinatorOptions, 'upstreams'> = {}): Promise<CompletionRig> {
    const upstream = await startScriptedUpstream();
    return new CompletionRig(upstream, await startCoordinator({ ...options, upstreams: [upstream.url] }));
  }

  async close(): Promise<void> {
    await this.coordinator.close();
    await this.upstream.close();
  }

  send(body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
    return postCompletion(this.coordinator.url, body, headers, signal);
  }

  async ask(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return readAnswer(await this.send(body, headers));
  }

  askStream(more: Record<string, unknown> = {}): Promise<Answer> {
    return this.ask({ model: 'test-model', messages, stream: true, ...more });
  }
}

/** @param body - a string is sent as it is */
export function postCompletion(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });
}

export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const parsed = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, headers: response.headers, text, body: parsed };
}

/** The JSON of a stream's `data:` events. */
export function dataOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice(6)) as Record<string, unknown>);
}

/** The text that a stream's deltas make. */
export function contentOf(text: string): string {
  return dataOf(text)
    .flatMap(({ choices }) => (choices as { delta: { content?: string } }[] | undefined) ?? [])
    .map(({ delta }) => delta.content ?? '')
    .join('');
}
