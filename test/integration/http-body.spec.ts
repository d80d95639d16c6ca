import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Delete, Get, HttpCode, Post } from '@nestjs/common';
import { BodyText } from '../../src/http/index.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';
import { exchange } from '../support/raw-http.js';

@Controller()
class EchoController {
  @Post('echo')
  @HttpCode(200)
  echo(@BodyText() text: string, @Body() value: object): object {
    return { length: Buffer.byteLength(text), text: text.length > 1_000 ? undefined : text, keys: Object.keys(value) };
  }

  @Post('poke')
  @HttpCode(200)
  poke(): object {
    return { poked: true };
  }

  @Delete('thing')
  remove(): object {
    return { deleted: true };
  }

  @Get('thing')
  read(): object {
    return { read: true };
  }
}

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({ controllers: [EchoController] });
});
afterAll(() => server.close());

function post(
  path: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<Response> {
  return fetch(`${server.url}${path}`, { method: 'POST', headers, body });
}

async function errorOf(
  response: Response,
): Promise<{ message: string; type: string; param: string | null; code: string }> {
  return ((await response.json()) as { error: { message: string; type: string; param: string | null; code: string } })
    .error;
}

describe('JSON bodies', () => {
  it('hands over the exact text and its value', async () => {
    const text = '{ "b" : 1.0,\n "a":"\\u00e9 😀 中" , "n": 12345678901234567890 }';
    const response = await post('/echo', text);
    expect(await response.json()).toEqual({ length: Buffer.byteLength(text), text, keys: ['b', 'a', 'n'] });
  });

  it.each([
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ; charset="UTF-8"',
    'application/json;charset=Utf8',
    'application/json; profile="charset=utf-16"',
    'application/json;',
  ])('takes %s', async (contentType) => {
    expect((await post('/echo', '{"a":1}', { 'content-type': contentType })).status).toBe(200);
  });

  it('ignores a byte order mark', async () => {
    const response = await post('/echo', '\uFEFF{"a":1}');
    expect(await response.json()).toMatchObject({ text: '{"a":1}' });
  });

  it.each([
    ['{"a":1', 'it ends too early, at position 6'],
    ['{"a": tru}', 'unexpected "t" at position 6 (line 1, column 7)'],
    ['{\n  "a": 1,\n}', 'unexpected "}" at position 12 (line 3, column 1)'],
    ['{"a":1} x', 'unexpected "x" at position 8 (line 1, column 9)'],
    ["{'a':1}", 'unexpected "\'" at position 1 (line 1, column 2)'],
    ['   ', 'it ends too early, at position 3'],
  ])('refuses %j and says where it is wrong', async (text, place) => {
    const response = await post('/echo', text);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toEqual({
      message: `the request body is not valid JSON: ${place}`,
      type: 'invalid_request_error',
      param: null,
      code: 'invalid_request',
    });
  });

  it.each([
    ['a stray continuation byte', [0x80]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a cut sequence', [0xf0, 0x9f, 0x98]],
    ['latin1', [0xe9]],
  ])('refuses invalid UTF-8: %s', async (_name, bytes) => {
    const response = await post('/echo', Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]));
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toBe('the request body is not valid UTF-8');
  });

  it('refuses nesting that would overflow a stack later', async () => {
    const response = await post('/echo', `${'['.repeat(500_000)}${']'.repeat(500_000)}`);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toContain('nested deeper than 200 levels');
  });

  it('keeps __proto__ an ordinary member and pollutes nothing', async () => {
    const response = await post('/echo', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    expect(await response.json()).toMatchObject({ keys: ['__proto__', 'constructor'] });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('refuses an empty body where one is needed, and where JSON was announced', async () => {
    for (const headers of [{ 'content-type': 'application/json' }, { 'content-type': 'text/plain' }]) {
      const response = await post('/echo', '', headers);
      expect(response.status).toBe(400);
      expect((await errorOf(response)).message).toMatch(/^the request body is empty/);
    }
    expect((await fetch(`${server.url}/echo`, { method: 'POST' })).status).toBe(400);
  });

  it('lets a POST without a body pass where none is needed', async () => {
    const response = await fetch(`${server.url}/poke`, { method: 'POST' });
    expect(await response.json()).toEqual({ poked: true });
  });

  it('lets a DELETE announce JSON and send nothing', async () => {
    const answer = await exchange(
      server.port,
      'DELETE /thing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n',
    );
    expect(answer.status).toBe(200);
  });

  it('takes no harm from a GET with a body', async () => {
    const answer = await exchange(
      server.port,
      'GET /thing HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello',
    );
    expect(answer.status).toBe(200);
  });
});

describe('media types', () => {
  it.each([
    ['text/plain', 'not "text/plain"'],
    ['application/x-www-form-urlencoded', 'not "application/x-www-form-urlencoded"'],
    ['application/merge-patch+json', 'not "application/merge-patch+json"'],
    ['application/jsonx', 'not "application/jsonx"'],
    ['json', 'not "json"'],
  ])('answers 415 for %s', async (contentType, reason) => {
    const response = await post('/echo', '{"a":1}', { 'content-type': contentType });
    expect(response.status).toBe(415);
    expect(await errorOf(response)).toEqual({
      message: `the content-type must be application/json: ${reason}`,
      type: 'invalid_request_error',
      param: null,
      code: 'unsupported_media_type',
    });
  });

  it.each([
    ['application/json; charset=utf-16', 'utf-16'],
    ['application/json;CHARSET="ISO-8859-1"', 'ISO-8859-1'],
    ['application/json; charset=utf-8; charset=utf-16le', 'utf-16le'],
    ['application/json; charset=', ''],
  ])('answers 415 to %s', async (contentType, charset) => {
    const response = await post('/echo', '{"a":1}', { 'content-type': contentType });
    expect(response.status).toBe(415);
    expect(await errorOf(response)).toMatchObject({
      code: 'unsupported_media_type',
      message: `the charset of JSON must be utf-8: not ${JSON.stringify(charset)}`,
    });
  });

  it('answers 415 when the content-type is missing', async () => {
    const response = await post('/echo', Buffer.from('{"a":1}'), {});
    expect(response.status).toBe(415);
    expect((await errorOf(response)).message).toContain('it is missing');
  });

  it.each(['gzip', 'br', 'deflate, gzip'])('answers 415 for a body compressed by %s', async (encoding) => {
    const response = await post('/echo', '{"a":1}', {
      'content-type': 'application/json',
      'content-encoding': encoding,
    });
    expect(response.status).toBe(415);
    expect((await errorOf(response)).code).toBe('unsupported_media_type');
  });

  it('takes content-encoding: identity', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' };
    expect((await post('/echo', '{"a":1}', headers)).status).toBe(200);
  });
});
