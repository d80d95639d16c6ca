interface RawRequest {
  readonly name: string;
  readonly bytes: Buffer;
}

const raw = (name: string, text: string): RawRequest => ({ name, bytes: Buffer.from(text, 'latin1') });
const GET = 'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n';
const POST = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const CLOSE = 'Connection: close\r\n';

/** What a broken or hostile client writes. Each makes the server answer, close, or both. */
export const RAW_REQUESTS: readonly [RawRequest, ...RawRequest[]] = [
  raw('garbage', '\u0000\u0001\u0002\u00ff\r\n\r\n'),
  raw('TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc'),
  raw('HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  raw('HTTP/0.9', 'GET /v1/models\r\n\r\n'),
  raw('HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n'),
  raw('another version', `GET / HTTP/3.7\r\nHost: x\r\n\r\n`),
  raw('no Host', `GET /v1/models HTTP/1.1\r\n${CLOSE}\r\n`),
  raw('two Hosts', `${GET}Host: evil.example\r\n${CLOSE}\r\n`),
  raw('bare LF', 'GET /health HTTP/1.1\nHost: localhost\nConnection: close\n\n'),
  raw('a folded header', `${GET}X-A: a\r\n b\r\n${CLOSE}\r\n`),
  raw('a space before the colon', `${POST}Content-Length : 2\r\n${CLOSE}\r\n{}`),
  raw('two lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n${CLOSE}\r\n{}`),
  raw('a list of lengths', `${POST}Content-Length: 2, 2\r\n${CLOSE}\r\n{}`),
  raw('a signed length', `${POST}Content-Length: +2\r\n${CLOSE}\r\n{}`),
  raw('a negative length', `${POST}Content-Length: -2\r\n${CLOSE}\r\n{}`),
  raw('a huge length', `${POST}Content-Length: 99999999999999999999999\r\n${CLOSE}\r\n{}`),
  raw('length and chunks', `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n${CLOSE}\r\n0\r\n\r\n`),
  raw('unknown coding', `${POST}Transfer-Encoding: xchunked\r\n${CLOSE}\r\n0\r\n\r\n`),
  raw('chunked twice', `${POST}Transfer-Encoding: chunked, chunked\r\n${CLOSE}\r\n0\r\n\r\n`),
  raw('chunked, then identity', `${POST}Transfer-Encoding: chunked, identity\r\n${CLOSE}\r\n0\r\n\r\n`),
  raw('a broken chunk', `${POST}Transfer-Encoding: chunked\r\n${CLOSE}\r\nzz\r\n{}\r\n0\r\n\r\n`),
  raw('a huge chunk', `${POST}Transfer-Encoding: chunked\r\n${CLOSE}\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`),
  raw(
    'a long chunk extension',
    `${POST}Transfer-Encoding: chunked\r\n${CLOSE}\r\n2;${'a'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
  ),
  raw('trailers', `${POST}Transfer-Encoding: chunked\r\n${CLOSE}\r\n2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n`),
  raw('a NUL in a header', `${GET}X-A: a\u0000b\r\n${CLOSE}\r\n`),
  raw('a name with a space', `${GET}X A: b\r\n${CLOSE}\r\n`),
  raw('no name', `${GET}: b\r\n${CLOSE}\r\n`),
  raw('bytes beyond ASCII', `${GET}X-A: \u00ff\u00fe\r\n${CLOSE}\r\n`),
  raw('large headers', `${GET}X-A: ${'a'.repeat(40_000)}\r\n${CLOSE}\r\n`),
  raw('many headers', `${GET}${'a: b\r\n'.repeat(1_000)}${CLOSE}\r\n`),
  raw('a long path', `GET /${'a'.repeat(30_000)} HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw('a long query', `GET /v1/models?${'a=b&'.repeat(3_000)} HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw('a space in the path', `GET /v1/mo dels HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw('an absolute target', `GET http://evil.example/v1/models HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw('a strange target', `GET ftp://evil.example/a HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw('no target', `GET  HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw('CONNECT', 'CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n'),
  raw('TRACE', `TRACE / HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw('an unknown method', `BREW / HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw('a lower-case method', `get /health HTTP/1.1\r\nHost: localhost\r\n${CLOSE}\r\n`),
  raw(
    'an upgrade',
    `${GET}Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nConnection: close, Upgrade, HTTP2-Settings\r\n\r\n`,
  ),
  raw('two keys', `${GET}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n${CLOSE}\r\n`),
  raw('a request behind the last', `${GET}${CLOSE}\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n`),
  raw('a request inside a GET body', `${GET}Content-Length: 34\r\n${CLOSE}\r\nDELETE /v1/locks/a HTTP/1.1\r\nA: b\r\n`),
];
