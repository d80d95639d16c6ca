import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { HttpException, NotFoundException } from '@nestjs/common';
import { ApiError, errorBody, errorHeaders, errorStatus, STATUS_TABLE, toApiError } from '../../../src/http/index.js';
import { MESSAGE_LIMIT, PARAM_LIMIT } from '../../../src/http/api-error.js';
import { sized } from '../../support/proof-scale.js';

describe('ApiError', () => {
  const words = fc
    .tuple(fc.nat(2), fc.constantFrom('x', '😀', 'é', '"'), fc.nat(1_000), fc.constantFrom('', 'y', ' is wrong'))
    .map(([shift, word, times, end]) => `${'a'.repeat(shift)}${word.repeat(times)}${end}`);
  const toldOf = (error: ApiError): readonly (string | null)[] => {
    const { message, param } = errorBody(error).error;
    return [message, param];
  };

  it('tells words within its limits as they are, and of longer ones the beginning and the end', () => {
    fc.assert(
      fc.property(words, (text) => {
        const kinds = [
          new ApiError('invalid_request', text, { param: text }),
          toApiError(Object.assign(new Error(text), { code: 'invalid_request', param: text })),
        ];
        for (const told of kinds.map(toldOf)) {
          for (const [at, limit] of [MESSAGE_LIMIT, PARAM_LIMIT].entries()) {
            const said = told[at] ?? '';
            if (text.length <= limit) expect(said).toBe(text);
            const [start = '', end = ''] = text.length <= limit ? [said] : said.split('…');
            expect(text.startsWith(start) && text.endsWith(end)).toBe(true);
            expect(said.length).toBeLessThanOrEqual(limit);
            expect(said.length).toBeGreaterThanOrEqual(Math.min(text.length, limit - 2));
            // Throws where a pair of surrogates is torn.
            expect(() => encodeURIComponent(said)).not.toThrow();
          }
        }
      }),
      { numRuns: sized(300, 10_000) },
    );
  });
});

describe('errorBody()', () => {
  it('is OpenAI’s object, with null for an absent param', () => {
    expect(errorBody(new ApiError('timeout', 'too slow'))).toEqual({
      error: { message: 'too slow', type: 'timeout_error', param: null, code: 'timeout' },
    });
  });
});

describe('errorHeaders()', () => {
  it.each([
    [1, '1', '1'],
    [999.2, '1', '1000'],
    [1_000, '1', '1000'],
    [1_001, '2', '1001'],
    [0, '0', '0'],
    [-5, '0', '0'],
  ])('rounds a delay of %s ms up', (retryAfterMs, seconds, ms) => {
    const headers = errorHeaders(new ApiError('rate_limit_exceeded', 'x', { retryAfterMs }));
    expect(headers).toEqual({ 'retry-after': seconds, 'retry-after-ms': ms });
  });

  it('leaves out a delay that is no number', () => {
    expect(errorHeaders(new ApiError('invalid_request', 'x', { retryAfterMs: Number.NaN }))).toEqual({});
  });

  it('takes the table’s delay and verdict when the error brings none, and the error’s own before', () => {
    expect(errorHeaders(new ApiError('draining', 'x'))).toEqual({
      'retry-after': '1',
      'retry-after-ms': '1000',
      'x-should-retry': 'true',
    });
    expect(errorHeaders(new ApiError('upstream_error', 'x', { isRetryable: true }))).toEqual({
      'x-should-retry': 'true',
    });
  });

  it('names the scheme on a 401', () => {
    expect(errorHeaders(new ApiError('invalid_api_key', 'x'))).toEqual({ 'www-authenticate': 'Bearer' });
  });
});

describe('toApiError()', () => {
  it('leaves an ApiError as it is', () => {
    const error = new ApiError('timeout', 'x');
    expect(toApiError(error)).toBe(error);
  });

  it('reads the facts of a coded error and keeps it as the cause', () => {
    const error = Object.assign(new Error('gone'), {
      code: 'model_retired',
      param: 'key',
      retryAfterMs: 5,
      isRetryable: true,
    });
    expect(toApiError(error)).toMatchObject({
      code: 'model_retired',
      message: 'gone',
      param: 'key',
      retryAfterMs: 5,
      isRetryable: true,
      cause: error,
    });
  });

  it.each(['lock_busy', 'lock_timeout', 'lock_lost', 'store_unavailable'] as const)(
    'says in the words of the table what %s is to a caller, and keeps the error’s own as the cause',
    (code) => {
      const error = Object.assign(new Error('lock "user:zoe" at REDIS_URL'), { code });
      const answer = toApiError(error);
      expect(answer).toMatchObject({ code, message: STATUS_TABLE[code].text, cause: error });
      expect(answer.message).not.toMatch(/["_]/);
    },
  );

  it('trusts no fact of the wrong type', () => {
    const error = Object.assign(new Error('gone'), {
      code: 'lock_lost',
      param: 1,
      retryAfterMs: '5',
      isRetryable: 'yes',
    });
    expect(toApiError(error)).toMatchObject({ param: undefined, retryAfterMs: undefined, isRetryable: undefined });
  });

  it.each([
    new Error('secret'),
    Object.assign(new Error('secret'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('secret'), { code: 'toString' }),
    Object.assign(new Error('secret'), { code: 'internal_error' }),
    Object.assign(new Error('secret'), { code: '__proto__' }),
    { code: 'timeout', message: 'secret' },
    new HttpException('secret', 500),
    new HttpException('secret', 302),
    'secret',
    undefined,
    null,
  ])('tells nothing of what it does not know: %p', (error) => {
    const answer = toApiError(error, { requestId: 'r1' });
    expect(answer).toMatchObject({ code: 'internal_error', message: 'internal error; request id r1' });
    expect(answer.cause).toBe(error);
    expect(JSON.stringify([errorBody(answer), errorHeaders(answer)])).not.toContain('secret');
  });

  it.each([
    [400, 'invalid_request'],
    [401, 'invalid_api_key'],
    [402, 'invalid_request'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'conflict'],
    [412, 'precondition_failed'],
    [416, 'range_not_satisfiable'],
    [418, 'invalid_request'],
    [422, 'unprocessable'],
    [429, 'rate_limit_exceeded'],
    [503, 'overloaded'],
    [504, 'timeout'],
  ])('maps an HttpException of %i', (status, code) => {
    expect(toApiError(new HttpException('text', status))).toMatchObject({ code, message: 'text' });
  });

  it.each([
    [400, 'invalid_request', 'bad request'],
    [403, 'forbidden', 'forbidden'],
    [404, 'not_found', 'not found'],
    [412, 'precondition_failed', 'precondition failed'],
    [414, 'invalid_request', 'uri too long'],
    [416, 'range_not_satisfiable', 'range not satisfiable'],
    [418, 'invalid_request', "i'm a teapot"],
    [499, 'invalid_request', 'invalid request'],
  ])('maps a plugin’s error of %i, and quotes nothing of it', (status, code, message) => {
    const ofPlugin = Object.assign(new Error('/srv/secret'), { status, statusCode: status });
    const ofFastify = Object.assign(new Error('/srv/secret'), { code: 'FST_ERR_ANY', statusCode: status });
    for (const error of [ofPlugin, ofFastify]) expect(toApiError(error)).toMatchObject({ code, message, cause: error });
  });

  it.each([
    { status: 404 },
    { statusCode: 404 },
    { status: 401, statusCode: 401, body: {}, code: 'UND_ERR_RESPONSE_STATUS_CODE' },
    { status: 401, statusCode: 401, response: {} },
    { status: 404, statusCode: 403 },
    { status: 503, statusCode: 503 },
    { status: '404', statusCode: '404' },
  ])('does not take what somebody answered to us for the caller’s fault: %j', (fields) => {
    expect(toApiError(Object.assign(new Error('x'), fields))).toMatchObject({ code: 'internal_error' });
  });

  it('says the limit when a body is too large', () => {
    const error = Object.assign(new Error('x'), { code: 'FST_ERR_CTP_BODY_TOO_LARGE' });
    for (const thrown of [error, new HttpException('x', 413)]) {
      expect(toApiError(thrown, { bodyLimitBytes: 10 }).message).toBe(
        'the request body is too large: the limit is 10 bytes',
      );
    }
    expect(toApiError(error).message).toBe('the request body is too large');
  });

  it('keeps a 404 that a controller threw', () => {
    expect(toApiError(new NotFoundException('no such order'))).toMatchObject({
      code: 'not_found',
      message: 'no such order',
    });
  });
});

describe('STATUS_TABLE', () => {
  it('has only HTTP errors, and a client that is told to wait is not told to give up', () => {
    for (const [code, row] of Object.entries(STATUS_TABLE)) {
      expect(row.status).toBeGreaterThanOrEqual(400);
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
      if ('retryAfterMs' in row && 'shouldRetry' in row) expect(row.shouldRetry).toBe(true);
    }
  });

  it('is the only source of a status', () => {
    expect(errorStatus(new ApiError('model_retired', 'x'))).toBe(410);
  });
});
