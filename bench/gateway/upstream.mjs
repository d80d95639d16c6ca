/**
 * The provider: answers OpenAI's shape at almost no cost. What it does is said by the system message of the request
 * (`{"replyChars","delayMs","frames","paceMs"}`), because that is the one field every gateway passes through.
 * A process of its own; tells its port to its parent and ends with it.
 */
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { pieces } from './workloads.mjs';

const CREATED = 1_790_000_000;
/** As high as no run comes. */
const RATE_LIMITS = { requests: 1_000_000, tokens: 1_000_000_000 };
/** After so many calls of a key its limits are full again. */
const REFILL_CALLS = 1_000;
const USAGE = { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 };

const server = http.createServer((request, response) => {
  answer(request, response).catch((error) => {
    if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: String(error), type: 'fake_upstream' } }));
  });
});
server.keepAliveTimeout = 120_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));

async function answer(request, response) {
  const received = [];
  for await (const chunk of request) received.push(chunk);
  if (request.url === '/v1/usage') return sendJson(response, { tier: 'enterprise', remaining: 1_000_000_000 });
  if (request.url === '/v1/models') return sendJson(response, { object: 'list', data: [] });
  if (request.url !== '/v1/chat/completions') throw new Error(`nothing at ${request.url}`);

  const asked = JSON.parse(Buffer.concat(received).toString());
  const plan = JSON.parse(asked.messages[0].content);
  for (const [name, value] of rateLimitsOf(request.headers.authorization)) response.setHeader(name, value);
  if (plan.delayMs > 0) await wait(plan.delayMs);
  if (asked.stream) return stream(response, asked, plan);
  return sendJson(response, completion(asked.model, plan));
}

const callsByKey = new Map();

/** OpenAI's headers, another remainder each time. */
function rateLimitsOf(key) {
  const calls = ((callsByKey.get(key) ?? 0) % REFILL_CALLS) + 1;
  callsByKey.set(key, calls);
  return Object.entries(RATE_LIMITS).flatMap(([unit, limit]) => [
    [`x-ratelimit-limit-${unit}`, String(limit)],
    [`x-ratelimit-remaining-${unit}`, String(limit - calls * (unit === 'tokens' ? USAGE.total_tokens : 1))],
    [`x-ratelimit-reset-${unit}`, '1m0s'],
  ]);
}

function completion(model, plan) {
  const message = { role: 'assistant', content: pieces(plan).join(''), refusal: null };
  return {
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: CREATED,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: USAGE,
    system_fingerprint: 'fp_bench',
  };
}

function sendJson(response, body) {
  const text = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** One write per frame, `paceMs` apart, as tokens come from a model. */
function stream(response, asked, plan) {
  const frames = framesOf(asked, plan);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  let next = 0;
  const timer = setInterval(() => {
    response.write(frames[next]);
    next += 1;
    if (next < frames.length) return;
    clearInterval(timer);
    response.end('data: [DONE]\n\n');
  }, plan.paceMs);
  response.on('close', () => clearInterval(timer));
}

function framesOf(asked, plan) {
  const head = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: CREATED,
    model: asked.model,
    system_fingerprint: 'fp_bench',
  };
  const frame = (delta, finish) =>
    `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`;
  const frames = [frame({ role: 'assistant', content: '', refusal: null }, null)];
  for (const content of pieces(plan)) frames.push(frame({ content }, null));
  frames.push(frame({}, 'stop'));
  if (asked.stream_options?.include_usage) {
    frames.push(`data: ${JSON.stringify({ ...head, choices: [], usage: USAGE })}\n\n`);
  }
  return frames;
}
