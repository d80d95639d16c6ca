import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

export type Script = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

export interface ScriptedUpstream {
  /** Base URL, ends in /v1. */
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** How many requests were given up by the client before their answer was complete. */
  aborted: number;
  /** Answers all requests from now on. */
  play(script: Script): void;
  close(): Promise<void>;
}

/** A provider that does exactly what a test tells it to. */
export async function startScriptedUpstream(script: Script = json(200, completion())): Promise<ScriptedUpstream> {
  let current = script;
  const server = createServer((request, response) => {
    void receive(request).then(async (received) => {
      upstream.requests.push(received);
      response.on('close', () => {
        if (!response.writableFinished) upstream.aborted += 1;
      });
      response.on('error', () => undefined);
      await current(received, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream: ScriptedUpstream = {
    url: `http://127.0.0.1:${String(port)}/v1`,
    requests: [],
    aborted: 0,
    play: (next) => {
      current = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return upstream;
}

/** U(status, headers, body). */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Script {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

export type Step = string | { readonly waitMs: number } | { readonly resets: true };

export const RESET: Step = { resets: true };

/** S[...]: writes strings as they are, waits, or destroys the socket; ends the response unless told otherwise. */
export function stream(steps: readonly Step[], { ends = true }: { readonly ends?: boolean } = {}): Script {
  return async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    for (const step of steps) {
      if (response.destroyed) return;
      if (typeof step === 'string') response.write(step);
      else if ('waitMs' in step) await new Promise((resolve) => setTimeout(resolve, step.waitMs));
      else {
        await new Promise((resolve) => setTimeout(resolve, 30));
        response.socket?.resetAndDestroy();
        return;
      }
    }
    if (ends) response.end();
  };
}

/** One `data:` event with a content delta, or whatever else is put into the chunk. */
export function chunk(delta: Record<string, unknown> | string, more: Record<string, unknown> = {}): string {
  const content = typeof delta === 'string' ? { content: delta } : delta;
  const choices = [{ index: 0, delta: content, finish_reason: null }];
  return event({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'upstream-model', choices, ...more });
}

export function finish(reason = 'stop'): string {
  return chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: reason }] });
}

export function usageChunk(
  usage: Record<string, unknown> = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
): string {
  return chunk({}, { choices: [], usage });
}

export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export const DONE = 'data: [DONE]\n\n';

export function completion(content = 'Hello!', more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'upstream-model',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    ...more,
  };
}

async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString();
  return {
    path: request.url ?? '',
    headers: request.headers,
    text,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}
