import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Body {
  readonly model: string;
  readonly messages: { role: string; content: string | { text?: string }[] }[];
  readonly stream?: boolean;
  readonly stream_options?: { include_usage?: boolean };
  readonly tools?: { function: { name: string } }[];
  readonly response_format?: { type: string };
}
type Message = Readonly<Record<string, unknown>> & Record<'content', string | null>;

const MODELS = ['gpt-4.1', 'claude-sonnet-4.5', 'gemini-2.5-flash', 'deepseek-v3.2'];
const DATA = MODELS.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'fake' }));
const refusal = (code: string) => ({ error: { message: code, type: 'invalid_request_error', param: null, code } });
const USAGE = { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 };

/**
 * A second opinion on OpenAI's format, written without a look at the simulator: echoes the last message (without a leading `echo:`),
 * calls the first tool until a result is there, answers any JSON `response_format` with `{}`, refuses the rest. Its url ends in /v1.
 */
export async function startFake() {
  const requests: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
  const server = createServer((request, response) => {
    const handle = (chunks: Buffer[]) => {
      const text = Buffer.concat(chunks).toString();
      const number = requests.push({ path: request.url ?? '', headers: request.headers, text });
      response.setHeader('x-request-id', `fake-${number}`);
      if (request.url === '/v1/models') json(response, 200, { object: 'list', data: DATA });
      else if (request.url === '/v1/usage') json(response, 200, { tier: 'enterprise', remaining: 1_000 });
      else answer(JSON.parse(text || '{"messages":[]}') as Body, response);
    };
    const refuse = () => json(response, 400, refusal('odd'));
    void request.toArray().then(handle).catch(refuse);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve).closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests, close };
}

const json = (response: ServerResponse, status: number, value: object) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));

function answer(body: Body, response: ServerResponse): void {
  const text = compose(body);
  const call = { name: body.tools?.[0]?.function.name, arguments: '{"city":"Zürich"}' };
  const calls = text === undefined && { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }] };
  const message = { role: 'assistant', content: text ?? null, ...calls };
  const base = { id: 'chatcmpl-fake', created: 1_700_000_001, model: body.model };
  const choices = [{ index: 0, message, finish_reason: calls === false ? 'stop' : 'tool_calls' }];
  if (!MODELS.includes(body.model)) json(response, 404, refusal('model_not_found'));
  else if (body.stream === true) stream(response, base, message, body.stream_options?.include_usage === true);
  else json(response, 200, { ...base, object: 'chat.completion', choices, usage: USAGE });
}

function stream(response: ServerResponse, base: object, message: Message, asksUsage: boolean): void {
  const head = { ...base, object: 'chat.completion.chunk', ...(asksUsage && { usage: null }) };
  const write = (fields: object) => response.write(`data: ${JSON.stringify({ ...head, ...fields })}\n\n`);
  const delta = (fields: object, finish_reason: string | null) =>
    write({ choices: [{ index: 0, delta: fields, finish_reason }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  delta({ role: 'assistant', content: '' }, null);
  for (const content of message.content ?? '') delta({ content }, null);
  if (message['tool_calls'] !== undefined) delta({ tool_calls: message['tool_calls'] }, null);
  delta({}, message['tool_calls'] === undefined ? 'stop' : 'tool_calls');
  if (asksUsage) write({ choices: [], usage: USAGE });
  response.end('data: [DONE]\n\n');
}

/** Undefined: a tool is called instead. */
function compose({ messages, tools, response_format: format }: Body): string | undefined {
  const { role, content } = messages[messages.length - 1] ?? { role: '', content: '' };
  if (tools !== undefined && role !== 'tool') return undefined;
  const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
  return format === undefined || format.type === 'text' ? text.replace(/^echo: ?/, '') : '{}';
}
