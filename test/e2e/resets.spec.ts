import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sized } from '../support/proof-scale.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

const ROUNDS = sized(10, 200);
const HOST = 'Host: localhost\r\n';
const ASK = `GET /v1/models HTTP/1.1\r\n${HOST}\r\n`;
const POST = `POST /v1/chat/completions HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const CHAT = JSON.stringify({ model: 'gpt-4.1', stream: true, messages: [{ role: 'user', content: 'Hi' }] });

describe('a connection that is reset', () => {
  let server: SpawnedServer;

  beforeAll(async () => {
    server = await spawnServer();
  });
  afterAll(() => server.kill());

  async function writeAndReset(text: string, afterMs: number): Promise<void> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(text);
    if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs));
    socket.resetAndDestroy();
  }

  it.each([
    ['nothing', ''],
    ['CONNECT', `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`],
    ['CONNECT with more behind it', `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n${'x'.repeat(100_000)}`],
    ['CONNECT behind a request', `${ASK}CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`],
    ['an upgrade', `GET /v1/models HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`],
    ['an upgrade to HTTP/2', `GET / HTTP/1.1\r\n${HOST}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['garbage', 'hello\r\n\r\n'],
    ['garbage behind requests', `${ASK}${ASK}hello\r\n\r\n`],
    ['half a head', 'GET /v1/models HTTP/1.1\r\nHos'],
    ['half a body', `${POST}Content-Length: 100\r\n\r\n{"a":`],
    ['a broken chunk', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
    ['a body that is refused', `${POST}Content-Length: 99999999\r\n\r\n${'x'.repeat(100_000)}`],
    ['an expectation', `${POST}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`],
    ['a request', ASK],
    ['many requests', ASK.repeat(50)],
    ['a stream', `${POST}Content-Length: ${String(CHAT.length)}\r\n\r\n${CHAT}`],
  ])('ends that connection and nothing else: %s', async (_name, text) => {
    for (let round = 0; round < ROUNDS; round += 1) await writeAndReset(text, round);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect(server.process.exitCode).toBeNull();
  });
});
