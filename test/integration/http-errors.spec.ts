import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  ForbiddenException,
  Get,
  Param,
  ParseIntPipe,
  Post,
  ServiceUnavailableException,
} from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsIn, IsString, Max, ValidateNested } from 'class-validator';
import { ApiError, STATUS_TABLE, type ErrorCode } from '../../src/http/index.js';
import { startHttpApp, type HttpApp } from '../support/http-app.js';

class MessageDto {
  @IsIn(['user', 'assistant'])
  role!: string;

  @IsString()
  content!: string;
}

class RequestDto {
  @Max(2)
  temperature!: number;

  @ValidateNested({ each: true })
  @Type(() => MessageDto)
  messages!: MessageDto[];
}

class LockBusyError extends Error {
  readonly code = 'lock_busy';
  readonly retryAfterMs = 2_300;
}

@Controller('v1')
class FailingController {
  @Get('fail/:code')
  fail(@Param('code') code: ErrorCode): never {
    throw new ApiError(code, `text of ${code}`, { param: 'a.b' });
  }

  @Get('busy')
  busy(): never {
    throw new LockBusyError('order:1 is held');
  }

  @Get('nest/:name')
  nest(@Param('name') name: string): never {
    if (name === 'conflict') throw new ConflictException('already there');
    if (name === 'forbidden') throw new ForbiddenException();
    if (name === 'unavailable') throw new ServiceUnavailableException('try later');
    throw new BadRequestException(['a is wrong', 'b is wrong']);
  }

  @Get('number/:n')
  number(@Param('n', ParseIntPipe) n: number): number {
    return n;
  }

  @Get('bug')
  bug(): never {
    throw new TypeError('password=hunter2 in /srv/secret.ts');
  }

  @Get('not-an-error')
  notAnError(): never {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- that somebody does so is the case
    throw 'hunter2';
  }

  @Post('validated')
  validated(@Body() body: RequestDto): RequestDto {
    return body;
  }
}

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({ controllers: [FailingController] });
});
afterAll(() => server.close());

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(`${server.url}${path}`, init);

describe('ErrorFilter', () => {
  it.each(Object.entries(STATUS_TABLE))('answers %s as the table says', async (code, row) => {
    const response = await get(`/v1/fail/${code}`);
    expect(response.status).toBe(row.status);
    expect(await response.json()).toEqual({
      error: { message: `text of ${code}`, type: row.type, param: 'a.b', code },
    });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-should-retry')).toBe('shouldRetry' in row ? String(row.shouldRetry) : null);
    expect(response.headers.get('retry-after-ms')).toBe('retryAfterMs' in row ? String(row.retryAfterMs) : null);
  });

  it("answers another module's coded error in the words of the table, with its delay rounded up", async () => {
    const response = await get('/v1/busy');
    expect(response.status).toBe(409);
    expect(response.headers.get('retry-after')).toBe('3');
    expect(response.headers.get('retry-after-ms')).toBe('2300');
    expect(await response.json()).toEqual({
      error: { message: STATUS_TABLE.lock_busy.text, type: 'conflict_error', param: null, code: 'lock_busy' },
    });
  });

  it.each([
    ['conflict', 409, 'conflict', 'already there'],
    ['forbidden', 403, 'forbidden', 'Forbidden'],
    ['unavailable', 503, 'overloaded', 'try later'],
    ['list', 400, 'invalid_request', 'a is wrong; b is wrong'],
  ])("maps Nest's %s exception", async (name, status, code, message) => {
    const response = await get(`/v1/nest/${name}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code, message, param: null } });
  });

  it("answers a pipe's refusal in the shape", async () => {
    const response = await get('/v1/number/x');
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request', type: 'invalid_request_error' } });
  });

  it.each(['/v1/bug', '/v1/not-an-error'])('tells nothing of an unknown error but the request id: %s', async (path) => {
    const before = server.reported.length;
    const response = await get(path, { headers: { 'x-request-id': 'req-7' } });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      error: { message: 'internal error; request id req-7', type: 'api_error', param: null, code: 'internal_error' },
    });
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(String(server.reported[before])).toContain('hunter2');
  });

  it('names the path of the first validation fault and lists all', async () => {
    const response = await get('/v1/validated', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        temperature: 1,
        messages: [
          { role: 'user', content: 'x' },
          { role: 'king', content: 5 },
        ],
      }),
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { param: string; message: string } };
    expect(error.param).toBe('messages[1].role');
    expect(error.message).toContain('messages[1].role: role must be one of');
    expect(error.message).toContain('messages[1].content: content must be a string');
  });
});

describe('routes', () => {
  it('answers 404 for an unknown path, without its query', async () => {
    const response = await get('/v1/nothing?key=hunter2');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      error: { message: 'no route for GET /v1/nothing', type: 'invalid_request_error', param: null, code: 'not_found' },
    });
  });

  it('answers 404 for an empty path parameter', async () => {
    const response = await get('/v1/fail/');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: 'not_found', message: 'no route for GET /v1/fail/' },
    });
  });

  it.each(['DELETE', 'PUT', 'PROPFIND'])('answers 405 with Allow for %s on a known path', async (method) => {
    const response = await get('/v1/fail/x', { method });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed', param: null } });
  });

  it('answers 405 to a POST with a body, and the connection goes on', async () => {
    const responses = [];
    for (let n = 0; n < 3; n += 1) {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
      const response = await get('/v1/bug', init);
      await response.text();
      responses.push(response.status);
    }
    expect(responses).toEqual([405, 405, 405]);
  });

  it('answers OPTIONS on a known path with what it allows, and 404 elsewhere', async () => {
    const known = await get('/v1/validated', { method: 'OPTIONS' });
    expect(known.status).toBe(204);
    expect(known.headers.get('allow')).toBe('OPTIONS, POST');
    expect(known.headers.get('x-request-id')).not.toBeNull();
    expect((await get('/v1/nothing', { method: 'OPTIONS' })).status).toBe(404);
  });

  it('answers HEAD like GET, without a body', async () => {
    const response = await get('/v1/number/5', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
  });

  it.each(['/v1/number/%zz', '/v1/%e0%a4%a/x', '/%'])(
    'answers 400 for a malformed percent-encoding: %s',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_request' } });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('answers 400 for a path parameter that is too long', async () => {
    const response = await get(`/v1/fail/${'x'.repeat(600)}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_request' } });
  });
});

describe('x-request-id', () => {
  it.each(['abc', 'A.b_c:d-9', 'x'.repeat(128)])('takes a sane one from the caller: %s', async (id) => {
    expect((await get('/v1/number/1', { headers: { 'x-request-id': id } })).headers.get('x-request-id')).toBe(id);
  });

  it.each(['a b', 'a"b', 'x'.repeat(129), 'a, b'])('replaces one that is not sane: %s', async (id) => {
    const response = await get('/v1/number/1', { headers: { 'x-request-id': id } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('gives every request its own, with nosniff and no hint of the server', async () => {
    const [a, b] = await Promise.all([get('/v1/number/1'), get('/v1/number/1')]);
    expect(a.headers.get('x-request-id')).not.toBe(b.headers.get('x-request-id'));
    expect(a.headers.get('x-content-type-options')).toBe('nosniff');
    expect(a.headers.get('x-powered-by')).toBeNull();
    expect(a.headers.get('server')).toBeNull();
  });
});
