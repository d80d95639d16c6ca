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
