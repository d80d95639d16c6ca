import { describe, expect, it } from '@jest/globals';
import { ListLocksQuery, ReleaseLockQuery, RetrieveLockQuery } from '../../../src/admin/locks.query.js';
import { createValidationPipe } from '../../../src/http/validation.pipe.js';

const pipe = createValidationPipe();
type Query = typeof ListLocksQuery | typeof ReleaseLockQuery | typeof RetrieveLockQuery;
const read = (metatype: Query, query: object): Promise<unknown> => pipe.transform(query, { type: 'query', metatype });

describe('the queries of /v1/locks', () => {
  it('have defaults that harm nobody', async () => {
    expect(await read(ListLocksQuery, {})).toEqual({ limit: 100 });
    expect(await read(ReleaseLockQuery, {})).toMatchObject({ mode: 'drain' });
  });

  it('read what is asked for', async () => {
    expect(await read(ListLocksQuery, { limit: '7' })).toEqual({ limit: 7 });
    expect(await read(ReleaseLockQuery, { mode: 'now', token: 'a' })).toEqual({ mode: 'now', token: 'a' });
  });

  it.each(['0', '-1', '1001', '1.5', 'many', '', ['1', '2']])('refuse a limit of %j', async (limit) => {
    await expect(read(ListLocksQuery, { limit })).rejects.toMatchObject({ code: 'invalid_request', param: 'limit' });
  });

  it.each(['', 'NOW', 'force', ['drain', 'now'], ['now'], { now: '' }])('refuse a mode of %j', async (mode) => {
    await expect(read(ReleaseLockQuery, { mode })).rejects.toMatchObject({ code: 'invalid_request', param: 'mode' });
  });

  it('refuse two tokens', async () => {
    const read2 = read(ReleaseLockQuery, { token: ['a', 'b'] });
    await expect(read2).rejects.toMatchObject({ code: 'invalid_request', param: 'token' });
  });

  it.each([
    [ListLocksQuery, 'limits'],
    [RetrieveLockQuery, 'token'],
    [ReleaseLockQuery, 'Token'],
  ])('refuse what there is not: %p', async (query, param) => {
    await expect(read(query, { [param]: 'x' })).rejects.toMatchObject({
      code: 'invalid_request',
      param,
      message: `${param}: there is no such parameter`,
    });
  });
});
