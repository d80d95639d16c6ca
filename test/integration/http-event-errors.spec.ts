import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BadRequestException, Controller, Get, type MessageEvent, Sse } from '@nestjs/common';
import { concat, from, NEVER, type Observable, of, throwError } from 'rxjs';
import { ApiError, STATUS_TABLE } from '../../src/http/index.js';
import { LockModule, LockService, WithLock } from '../../src/lock/index.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';
import { eventually } from '../support/eventually.js';

const thenFails = (error: Error): Observable<MessageEvent> =>
  concat(
    of({ data: 'first' }),
    throwError(() => error),
  );

@Controller('v1/events')
class EventsController {
  @Sse('locked')
  @WithLock('events', { waitMs: 200 })
  locked(): Observable<MessageEvent> {
    return concat(of({ data: 'first' }), NEVER);
  }

  @Sse('unforeseen')
  unforeseen(): Observable<MessageEvent> {
    return thenFails(new Error('secret'));
  }

  @Sse('http')
  http(): Observable<MessageEvent> {
    return thenFails(new BadRequestException('no such order'));
  }

  @Sse('own')
  own(): Observable<MessageEvent> {
    return thenFails(new ApiError('rate_limit_exceeded', 'too many', { param: 'n' }));
  }

  @Sse('at-once')
  atOnce(): Observable<MessageEvent> {
    return throwError(() => new ApiError('not_found', 'no such order'));
  }

  @Get('plain')
  plain(): Observable<string> {
    return from(['one', 'two']);
  }
}

let server: HttpApp;
beforeAll(async () => {
  server = await startHttpApp({ controllers: [EventsController], imports: [LockModule.forRoot({ graceMs: 0 })] });
});
afterAll(() => server.close());

const get = (path: string): Promise<Response> => fetch(`${server.url}/v1/events/${path}`);

/** The data of the last event, which must be an error. */
async function lastError(response: Response): Promise<unknown> {
  const event = (await response.text()).trim().split('\n\n').at(-1) ?? '';
  expect(event).toMatch(/^event: error$/m);
  return (JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? '') as { error: unknown }).error;
}

describe('an event stream that fails after its beginning', () => {
  it('ends with the error of any other answer as an event: the lock was taken by an operator', async () => {
    const response = await get('locked');
    const locks = server.app.get(LockService);
    await eventually(async () => (await locks.inspect('events'))?.holders.length === 1);
    await locks.forceRelease('events', { mode: 'now' });
    const { type, text: message } = STATUS_TABLE.lock_lost;
    expect(await lastError(response)).toEqual({ code: 'lock_lost', type, message, param: null });
    expect(server.reported.splice(0)).toMatchObject([{ name: 'LockLostError' }]);
  });

  it('ends with the error of any other answer as an event: the lock was not free in time', async () => {
    const lease = await server.app.get(LockService).acquire('events');
    const { type, text: message } = STATUS_TABLE.lock_timeout;
    expect(await lastError(await get('locked'))).toEqual({ code: 'lock_timeout', type, message, param: null });
    expect(server.reported.splice(0)).toEqual([]);
    await lease.release();
  });

  it('tells nothing of what nobody foresaw, and reports it once', async () => {
    expect(await lastError(await get('unforeseen'))).toMatchObject({
      code: 'internal_error',
      message: expect.stringMatching(/^internal error; request id /) as unknown,
    });
    expect(server.reported.splice(0)).toMatchObject([{ message: 'secret' }]);
  });

  it.each([
    ['http', { code: 'invalid_request', message: 'no such order', param: null }],
    ['own', { code: 'rate_limit_exceeded', message: 'too many', param: 'n' }],
  ])('tells what was meant for the client: %s', async (path, error) => {
    expect(await lastError(await get(path))).toMatchObject(error);
    expect(server.reported).toEqual([]);
  });

  it('answers as usual where it fails before', async () => {
    const response = await get('at-once');
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'not_found' } }]);
  });

  it('has nothing to do with other answers', async () => {
    expect(await (await get('plain')).text()).toBe('two');
  });
});
