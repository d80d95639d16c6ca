import { Socket } from 'node:net';
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

  it.each([
    'ANSWER: my diagnosis',
    '{"a": ANSWER: my diagnosis}',
    `{"a":1,${' '.repeat(100)}ANSWER my diagnosis`,
    '{"a":"x"}\n"ANSWER"\nmy',
    '"ANSWER',
    '{"ANSWER"',
    '[1,"ANSWER" "my"]',
    '{"ANSWER":tru}',
    '😀ANSWER my',
    '"\u0001ANSWER"',
  ])('writes nothing of a text that is not JSON: %j', (text) => {
    const error = thrownBy(() => JSON.parse(text));
    const written = JSON.stringify(serializeError(new Error('outer', { cause: error })));
    expect(written).toContain('SyntaxError');
    expect(written).not.toMatch(/ANSW|diagnosis/);
    const wrapped = serializeError(new Error(`the provider's answer: ${error.message}`));
    expect(JSON.stringify(wrapped)).not.toMatch(/ANSW|diagnosis/);
  });

  it('writes nothing of a value that Node shows', () => {
    for (const call of [
      () => Buffer.alloc('ANSWER: my diagnosis' as unknown as number),
      () => new Socket().connect({ port: 'ANSWER' as unknown as number }),
    ]) {
      expect(JSON.stringify(serializeError(thrownBy(call)))).not.toContain('ANSWER');
    }
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

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
