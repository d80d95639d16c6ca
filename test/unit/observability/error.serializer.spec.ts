import { describe, expect, it } from '@jest/globals';
import { AxiosError, AxiosHeaders } from 'axios';
import { type SerializedError, serializeError } from '../../../src/observability/index.js';

const KEY = 'upstream-key-51f0';

function axiosError(): AxiosError {
  const headers = AxiosHeaders.from({ Authorization: `Bearer ${KEY}` });
  const config = { headers, url: `https://provider/v1?key=${KEY}`, data: KEY };
  return new AxiosError('socket hang up', 'ECONNRESET', config, { _header: KEY });
}

describe('serializeError()', () => {
  it('row 69: writes nothing of the request that an AxiosError carries', () => {
    const written = JSON.stringify(serializeError(axiosError()));
    expect(written).toContain('socket hang up');
    expect(written).toContain('ECONNRESET');
    expect(written).not.toContain(KEY);
  });

  it('row 69: follows causes and aggregated errors and stays clean there', () => {
    const aggregate = new AggregateError([axiosError(), new Error('second')], 'all attempts failed');
    const serialized = serializeError(new Error('outer', { cause: aggregate }));
    expect(serialized).toMatchObject({
      type: 'Error',
      message: 'outer',
      cause: {
        type: 'AggregateError',
        errors: [
          { type: 'AxiosError', code: 'ECONNRESET' },
          { type: 'Error', message: 'second' },
        ],
      },
    });
    expect(JSON.stringify(serialized)).not.toContain(KEY);
  });

  it('picks code, status and stack, and no other field', () => {
    const error = Object.assign(new Error('boom'), {
      code: 'E_BOOM',
      status: 502,
      request: { secret: KEY },
      headers: KEY,
    });
    expect(Object.keys(serializeError(error)).sort()).toEqual(['code', 'message', 'stack', 'status', 'type']);
  });

  it('ends where a chain of causes bites its own tail', () => {
    const error: Error & { cause?: unknown } = new Error('ouroboros');
    error.cause = error;
    expect(depthOf(serializeError(error))).toBe(6);
  });

  it('bounds messages and stacks', () => {
    const { message, stack } = serializeError(new Error('x'.repeat(1_000_000)));
    expect(message.length).toBeLessThan(2_100);
    expect(stack?.length).toBeLessThan(4_100);
  });

  it.each([
    ['text', { type: 'string', message: 'text' }],
    [undefined, { type: 'undefined', message: 'undefined' }],
    [null, { type: 'object', message: 'null' }],
    [{ headers: KEY }, { type: 'object', message: 'not an error' }],
  ])('names what was thrown without being an error: %j', (thrown, expected) => {
    expect(serializeError(thrown)).toEqual(expected);
  });
});

function depthOf({ cause }: SerializedError): number {
  return cause === undefined ? 1 : 1 + depthOf(cause);
}
