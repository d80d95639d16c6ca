/**
 * The limit: the least that a gateway written in Node can do and still read what it carries. Bodies are parsed and
 * written anew in both directions; of a stream every frame (with `--pipe`, streams are handed through unread).
 * No routing, no auth, no logs, no timers, no errors of its own. Used only as a yardstick.
 */
import http from 'node:http';
import { Pool } from 'undici';

const upstream = new Pool(process.argv[2]);
const isPiping = process.argv.includes('--pipe');

const server = http.createServer((request, response) => {
  forward(request, response).catch((error) => {
    if (!response.headersSent) response.writeHead(502, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: String(error), type: 'bare_proxy' } }));
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 2048 }, () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));

async function forward(request, response) {
  const received = [];
  for await (const chunk of request) received.push(chunk);
  const asked = JSON.parse(Buffer.concat(received).toString());
  const answer = await upstream.request({
    method: 'POST',
    path: request.url,
    headers: { 'content-type': 'application/json', authorization: 'Bearer bench-key' },
    body: JSON.stringify(asked),
  });
  if (asked.stream && answer.statusCode === 200) return forwardStream(answer, response);

  const text = JSON.stringify(await answer.body.json());
  response.writeHead(answer.statusCode, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

async function forwardStream(answer, response) {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  if (isPiping) return void answer.body.pipe(response);
  let rest = '';
  answer.body.setEncoding('utf8');
  for await (const chunk of answer.body) {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop();
    if (frames.length > 0) response.write(frames.map(rewrite).join(''));
  }
  response.end();
}

function rewrite(frame) {
  const data = frame.slice('data: '.length);
  return data === '[DONE]' ? 'data: [DONE]\n\n' : `data: ${JSON.stringify(JSON.parse(data))}\n\n`;
}
