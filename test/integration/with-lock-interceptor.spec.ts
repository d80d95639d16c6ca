import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Res, StreamableFile, UseInterceptors } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { defer, firstValueFrom, Observable, of, Subject } from 'rxjs';
import { currentLease, LockInterceptor, LockModule, LockService, RequestLock } from '../../src/lock/index.js';
import { eventually } from '../support/eventually.js';
import { FedReadables } from '../support/fed-readables.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';
import { KeyWatch } from '../support/key-watch.js';

/** Sources that the tests feed. */
const feed = new Subject<string>();
const gate = new Subject<string>();
const sources = new FedReadables();

interface KeyRequest extends FastifyRequest {
  readonly params: { readonly key: string };
}

@Controller('v1/request')
@UseInterceptors(LockInterceptor)
@RequestLock('controller')
class RequestController {
  @Get('file/:key')
  @RequestLock((request: KeyRequest) => `request:${request.params.key}`)
  file(): StreamableFile {
    return new StreamableFile(sources.open());
  }

  @Get('own/:key')
  @RequestLock((request: KeyRequest) => `request:${request.params.key}`)
  own(@Res() reply: FastifyReply): void {
    reply.hijack();
    reply.raw.write('begun');
    feed.subscribe((text) => reply.raw.end(text));
  }

  @Get('fail/:key')
  @RequestLock((request: KeyRequest) => `request:${request.params.key}`, { onBusy: 'fail' })
  fail(): string {
    return String(currentLease()?.key);
  }

  @Get('skip/:key')
  @RequestLock((request: KeyRequest) => `request:${request.params.key}`, { onBusy: 'skip' })
  skip(): string {
    return 'ran';
  }

  @Get('controller')
  ofController(): string {
    return String(currentLease()?.key);
  }

  @Get('observable')
  ofObservable(): Observable<string> {
    return defer(() => of(String(currentLease()?.key)));
  }

  @Get('lost/:key')
  @RequestLock((request: KeyRequest) => `request:${request.params.key}`)
  async lost(): Promise<string> {
    await firstValueFrom(gate);
    return 'made without the lock';
  }

  @Get('error/:key')
  @RequestLock((request: KeyRequest) => `request:${request.params.key}`)
  error(): never {
    throw new RangeError('own');
  }
}

@Controller('v1/keyless')
class KeylessController {
  @Get()
  @UseInterceptors(LockInterceptor)
  get(): string {
    return 'unlocked';
  }
}

let server: HttpApp;
let locks: LockService;
beforeAll(async () => {
  const controllers = [RequestController, KeylessController];
  server = await startHttpApp({ controllers, imports: [LockModule.forRoot({ graceMs: 0 })] });
  locks = server.app.get(LockService);
});
afterAll(() => server.close());

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(`${server.url}/v1/${path}`, init);
const keys = new KeyWatch(() => locks);

describe('LockInterceptor', () => {
  it('holds the lock until the streamed answer is complete', async () => {
    const before = sources.count;
    const answer = get('request/file/stream');
    await eventually(() => sources.count > before);
    sources.push('content');
    const response = await answer;
    expect(await keys.isHeld('request:stream')).toBe(true);
    expect((await get('request/fail/stream')).status).toBe(409);
    sources.push(null);
    expect(await response.text()).toBe('content');
    await keys.untilFree('request:stream');
  });

  it('holds the lock until the client has gone, also where the handler answers by itself', async () => {
    const leaving = new AbortController();
    await get('request/own/own', { signal: leaving.signal });
    expect(await keys.isHeld('request:own')).toBe(true);
    leaving.abort();
    await keys.untilFree('request:own');
  });

  it('frees the lock after an answer that the handler wrote by itself', async () => {
    const response = await get('request/own/finished');
    expect(await keys.isHeld('request:finished')).toBe(true);
    feed.next(' done');
    expect(await response.text()).toBe('begun done');
    await keys.untilFree('request:finished');
  });

  it('leaves the queue when the client leaves while it waits', async () => {
    await keys.whileBusy('request:wait', async () => {
      const leaving = new AbortController();
      const answer = get('request/error/wait', { signal: leaving.signal });
      await keys.untilWaiting('request:wait', 1);
      leaving.abort();
      await expect(answer).rejects.toThrow();
      await keys.untilWaiting('request:wait', 0);
    });
  });

  it('gives the handler its lease, by the rule of the method or of the controller', async () => {
    expect(await (await get('request/fail/a')).text()).toBe('request:a');
    expect(await (await get('request/controller')).text()).toBe('controller');
    expect(await (await get('request/observable')).text()).toBe('controller');
  });

  it('answers 204 where it is skipped', async () => {
    const skipped = await keys.whileBusy('request:s', () => get('request/skip/s'));
    expect([skipped.status, await skipped.text()]).toEqual([204, '']);
  });

  it('answers 500 where the lock was lost before the answer', async () => {
    const answer = get('request/lost/l');
    await eventually(() => gate.observed);
    await locks.forceRelease('request:l');
    await keys.untilFree('request:l');
    gate.next('go on');
    const response = await answer;
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'lock_lost' } }]);
  });

  it("frees the lock after the handler's error", async () => {
    expect((await get('request/error/e')).status).toBe(500);
    await keys.untilFree('request:e');
  });

  it('runs no route without a key', async () => {
    const before = server.reported.length;
    expect((await get('keyless')).status).toBe(500);
    expect(String(server.reported[before])).toContain('KeylessController.get() is under LockInterceptor');
  });
});
