import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Res, StreamableFile, UseInterceptors } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { defer, firstValueFrom, Observable, of, Subject } from 'rxjs';
import { currentLease, LockInterceptor, LockModule, LockService, RequestLock } from '../../src/lock/index.js';
import { eventually } from '../support/eventually.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';

/** Sources that the tests feed. */
const feed = new Subject<string>();
const gate = new Subject<string>();
const sources: Readable[] = [];
const source = (): Readable => {
  const readable = new Readable({ read: () => undefined });
  sources.push(readable);
  return readable;
};

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
    return new StreamableFile(source());
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
const isHeld = async (key: string): Promise<boolean> => ((await locks.inspect(key))?.holders.length ?? 0) > 0;
const untilFree = (key: string): Promise<void> => eventually(async () => !(await isHeld(key)));

async function whileBusy<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const lease = await locks.acquire(key);
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

describe('LockInterceptor', () => {
  it('holds the lock until the streamed answer is complete', async () => {
    const before = sources.length;
    const answer = get('request/file/stream');
    await eventually(() => sources.length > before);
    sources.at(-1)?.push('content');
    const response = await answer;
    expect(await isHeld('request:stream')).toBe(true);
    expect((await get('request/fail/stream')).status).toBe(409);
    sources.at(-1)?.push(null);
    expect(await response.text()).toBe('content');
    await untilFree('request:stream');
  });

  it('holds the lock until the client has gone, also where the handler answers by itself', async () => {
    const leaving = new AbortController();
    await get('request/own/own', { signal: leaving.signal });
    expect(await isHeld('request:own')).toBe(true);
    leaving.abort();
    await untilFree('request:own');
  });

  it('frees the lock after an answer that the handler wrote by itself', async () => {
    const response = await get('request/own/finished');
    expect(await isHeld('request:finished')).toBe(true);
    feed.next(' done');
    expect(await response.text()).toBe('begun done');
    await untilFree('request:finished');
  });

  it('leaves the queue when the client leaves while it waits', async () => {
    const waiters = async (): Promise<number | undefined> => (await locks.inspect('request:wait'))?.waiters.length;
    await whileBusy('request:wait', async () => {
      const leaving = new AbortController();
      const answer = get('request/error/wait', { signal: leaving.signal });
      await eventually(async () => (await waiters()) === 1);
      leaving.abort();
      await expect(answer).rejects.toThrow();
      await eventually(async () => (await waiters()) === 0);
    });
  });

  it('gives the handler its lease, by the rule of the method or of the controller', async () => {
    expect(await (await get('request/fail/a')).text()).toBe('request:a');
    expect(await (await get('request/controller')).text()).toBe('controller');
    expect(await (await get('request/observable')).text()).toBe('controller');
  });

  it('answers 204 where it is skipped', async () => {
    const skipped = await whileBusy('request:s', () => get('request/skip/s'));
    expect([skipped.status, await skipped.text()]).toEqual([204, '']);
  });

  it('answers 500 where the lock was lost before the answer', async () => {
    const answer = get('request/lost/l');
    await eventually(() => gate.observed);
    await locks.forceRelease('request:l');
    await untilFree('request:l');
    gate.next('go on');
    const response = await answer;
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: 'lock_lost' } }]);
  });

  it("frees the lock after the handler's error", async () => {
    expect((await get('request/error/e')).status).toBe(500);
    await untilFree('request:e');
  });

  it('runs no route without a key', async () => {
    const before = server.reported.length;
    expect((await get('keyless')).status).toBe(500);
    expect(String(server.reported[before])).toContain('KeylessController.get() is under LockInterceptor');
  });
});
