import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, type MessageEvent, Param, Res, Sse, StreamableFile, UseInterceptors } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { defer, Observable, of, Subject } from 'rxjs';
import {
  currentLease,
  LockInterceptor,
  LockModule,
  LockOptionsError,
  LockService,
  RequestLock,
  WithLock,
} from '../../src/lock/index.js';
import { eventually } from '../support/eventually.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';

/** Sources that the tests feed. */
const feed = new Subject<string>();
const sources: Readable[] = [];
const source = (): Readable => {
  const readable = new Readable({ read: () => undefined });
  sources.push(readable);
  return readable;
};

interface KeyRequest extends FastifyRequest {
  readonly params: { readonly key: string };
}

@Controller('v1/method')
class MethodController {
  @Get('fail')
  @WithLock('busy', { onBusy: 'fail' })
  async fail(): Promise<string> {
    return Promise.resolve('ran');
  }

  @Get('timeout')
  @WithLock('busy', { waitMs: 20 })
  async timeout(): Promise<string> {
    return Promise.resolve('ran');
  }

  @WithLock('busy', { onBusy: 'skip' })
  @Get('skip')
  async skip(): Promise<string | undefined> {
    return Promise.resolve('ran');
  }

  @Get('skip-observable')
  @WithLock('busy', { onBusy: 'skip' })
  skipObservable(): Observable<string> {
    return of('ran');
  }

  @Sse('skip-events')
  @WithLock('busy', { onBusy: 'skip' })
  skipEvents(): Observable<MessageEvent> {
    return of({ data: 'ran' });
  }

  @Get('empty/:key')
  @WithLock((key: string) => (key === 'empty' ? ' ' : `order:${String(undefined)}`))
  async empty(@Param('key') key: string): Promise<string> {
    return Promise.resolve(key);
  }

  @Sse('events')
  @WithLock('events')
  events(): Observable<MessageEvent> {
    return new Observable((subscriber) =>
      feed.subscribe((data) => {
        if (data === 'end') subscriber.complete();
        else subscriber.next({ data });
      }),
    );
  }

  @Sse('events-later')
  @WithLock('events')
  async eventsLater(): Promise<Observable<MessageEvent>> {
    return Promise.resolve(this.plainEvents());
  }

  private plainEvents(): Observable<MessageEvent> {
    return new Observable((subscriber) =>
      feed.subscribe((data) => {
        if (data === 'end') subscriber.complete();
        else subscriber.next({ data });
      }),
    );
  }

  @Get('file')
  @WithLock('file')
  async file(): Promise<StreamableFile> {
    return Promise.resolve(new StreamableFile(source()));
  }
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
  const controllers = [MethodController, RequestController, KeylessController];
  server = await startHttpApp({ controllers, imports: [LockModule.forRoot({ graceMs: 0 })] });
  locks = server.app.get(LockService);
});
afterAll(() => server.close());

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(`${server.url}/v1/${path}`, init);
const isHeld = async (key: string): Promise<boolean> => ((await locks.inspect(key))?.holders.length ?? 0) > 0;
const untilHeld = (key: string): Promise<void> => eventually(() => isHeld(key));
const untilFree = (key: string): Promise<void> => eventually(async () => !(await isHeld(key)));

async function whileBusy<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const lease = await locks.acquire(key);
  try {
    return await work();
  } finally {
    await lease.release();
  }
}

describe('@WithLock() on a route', () => {
  it.each([
    ['fail', 'lock_busy'],
    ['timeout', 'lock_timeout'],
  ])('answers 409 with Retry-After where the lock is taken: %s', async (path, code) => {
    const response = await whileBusy('busy', () => get(`method/${path}`));
    expect([response.status, await response.json()]).toMatchObject([409, { error: { code } }]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await (await get(`method/${path}`)).text()).toBe('ran');
  });

  it.each(['skip', 'skip-observable'])('answers 204 where it is skipped: %s', async (path) => {
    const skipped = await whileBusy('busy', () => get(`method/${path}`));
    expect([skipped.status, await skipped.text()]).toEqual([204, '']);
    const ran = await get(`method/${path}`);
    expect([ran.status, await ran.text()]).toEqual([200, 'ran']);
  });

  it('ends the events of a skipped request', async () => {
    const skipped = await whileBusy('busy', async () => (await get('method/skip-events')).text());
    expect(skipped).not.toContain('data');
    expect(await (await get('method/skip-events')).text()).toContain('data: ran');
  });

  it.each(['empty', 'missing'])('answers 500 to a key that is %s, and reports it', async (path) => {
    const before = server.reported.length;
    expect((await get(`method/empty/${path}`)).status).toBe(500);
    expect(server.reported[before]).toBeInstanceOf(LockOptionsError);
  });

  it.each(['events', 'events-later'])('holds the lock until the events end: %s', async (path) => {
    const response = await get(`method/${path}`);
    await eventually(() => feed.observed);
    expect(await isHeld('events')).toBe(true);
    feed.next('one');
    feed.next('end');
    expect(await response.text()).toContain('data: one');
    await untilFree('events');
  });

  it.each(['events', 'events-later'])('frees the lock when the client of the events leaves: %s', async (path) => {
    const leaving = new AbortController();
    await get(`method/${path}`, { signal: leaving.signal });
    await eventually(() => feed.observed);
    expect(await isHeld('events')).toBe(true);
    leaving.abort();
    await untilFree('events');
    await eventually(() => !feed.observed);
  });

  it('holds the lock until a file is sent', async () => {
    const answer = get('method/file');
    await untilHeld('file');
    await eventually(() => sources.length > 0);
    sources.at(-1)?.push('content');
    const response = await answer;
    expect(await isHeld('file')).toBe(true);
    sources.at(-1)?.push(null);
    expect(await response.text()).toBe('content');
    await untilFree('file');
  });
});

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
