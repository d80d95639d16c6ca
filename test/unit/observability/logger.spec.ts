import { describe, expect, it } from '@jest/globals';
import { AxiosError, AxiosHeaders } from 'axios';
import { createLogger } from '../../../src/observability/index.js';
import { LogLines } from '../../support/log-lines.js';

const KEY = 'upstream-key-51f0';

describe('createLogger()', () => {
  it('writes one JSON line with level, time and message', () => {
    const log = new LogLines();
    createLogger({ level: 'info', secrets: [] }, log).info({ a: 1 }, 'hello');
    expect(log.records).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), a: 1, msg: 'hello' },
    ]);
  });

  it('writes nothing below its level', () => {
    const log = new LogLines();
    const logger = createLogger({ level: 'warn', secrets: [] }, log);
    logger.info('quiet');
    logger.warn('loud');
    expect(log.records.map(({ msg }) => msg)).toEqual(['loud']);
  });

  it('keeps a line one line, whatever is put into it', () => {
    const log = new LogLines();
    createLogger({ level: 'info', secrets: [] }, log).info({ id: 'x\n{"level":"fatal"}' }, 'a\r\nb\u2028c');
    expect(log.records).toHaveLength(1);
    expect(log.records[0]).toMatchObject({ id: 'x\n{"level":"fatal"}', msg: 'a\r\nb\u2028c' });
  });

  it.each([
    ['a terminal escape', '\u001b[2J\u001b[31m'],
    ['one of a single character', '\u009b2J'],
    ['a line end of Unicode', 'a\u2028b\u2029c\u0085d'],
    ['text that runs backwards', 'user\u202e\u2066nimda'],
    ['a forged record', '"}\n{"level":"fatal","msg":"forged"}'],
    ['a NUL and a DEL', '\u0000\u007f'],
    ['half a pair', '\ud800'],
  ])('shows in one line, and means, what somebody put into a value and into a name: %s', (_name, text) => {
    const log = new LogLines();
    createLogger({ level: 'info', secrets: ['a-secret'] }, log).info({ id: text, [text]: 1, secret: 'a-secret' }, text);
    // eslint-disable-next-line no-control-regex -- what must not be there
    expect(log.text).toMatch(/^[^\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]*\n$/);
    expect(log.records).toMatchObject([{ msg: text, [text]: 1, secret: '[redacted]' }]);
  });

  it('row 69: logs a transport error, under any name and at any depth, without the key', () => {
    const log = new LogLines();
    const logger = createLogger({ level: 'info', secrets: [KEY] }, log);
    const headers = AxiosHeaders.from({ Authorization: `Bearer ${KEY}`, 'x-goog-api-key': KEY });
    const error = new AxiosError(`connect to https://h/?key=${KEY} failed`, 'ECONNRESET', { headers });
    logger.error(error);
    logger.error({ err: error }, 'attempt failed');
    logger.error({ reason: error, deep: { error } }, error.message);
    logger.child({ token: KEY }).error(new Error('outer', { cause: error }));
    expect(log.records).toHaveLength(4);
    expect(log.records[1]).toMatchObject({ msg: 'attempt failed', err: { type: 'AxiosError', code: 'ECONNRESET' } });
    expect(log.records[2]).toMatchObject({ reason: { type: 'AxiosError', code: 'ECONNRESET' } });
    expect(log.text).not.toContain(KEY);
  });
});
