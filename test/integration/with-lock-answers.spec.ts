import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, type MessageEvent, Param, Sse, StreamableFile } from '@nestjs/common';
import { Observable, of, Subject } from 'rxjs';
import { STATUS_TABLE } from '../../src/http/index.js';
import { LockModule, LockService, WithLock } from '../../src/lock/index.js';
import { eventually } from '../support/eventually.js';
import { FedReadables } from '../support/fed-readables.js';
import { type HttpApp, startHttpApp } from '../support/http-app.js';
import { KeyWatch } from '../support/key-watch.js';

/** Sources that the tests feed. */
const feed = new Subject<string>();
const sources = new FedReadables();

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
  @WithLock((key: string) => ({ empty: ' ', long: 'x'.repeat(513) })[key] ?? `order:${String(undefined)}`)
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
    return Promise.resolve(new StreamableFile(sources.open()));
  }
}

let server: HttpApp;
let locks: LockService;
beforeAll(async () => {
  server = await startHttpApp({ controllers: [MethodController], imports: [LockModule.forRoot({ graceMs: 0 })] });
  locks = server.app.get(LockService);
});
afterAll(() => server.close());

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(`${server.url}/v1/${path}`, init);
const keys = new KeyWatch(() => locks);

describe('@WithLock() on a route', () => {
  it.each([
    ['fail', 'lock_busy'],
    ['timeout', 'lock_timeout'],
  ] as const)('answers 409 with Retry-After where the lock is taken: %s', async (path, code) => {
    const response = await keys.whileBusy('busy', () => get(`method/${path}`));
    // Neither the key nor who has it.
    const error = { code, message: STATUS_TABLE[code].text };
    expect([response.status, await response.json()]).toMatchObject([409, { error }]);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await (await get(`method/${path}`)).text()).toBe('ran');
  });

  it.each(['skip', 'skip-observable'])('answers 204 where it is skipped: %s', async (path) => {
    const skipped = await keys.whileBusy('busy', () => get(`method/${path}`));
    expect([skipped.status, await skipped.text()]).toEqual([204, '']);
    const ran = await get(`method/${path}`);
    expect([ran.status, await ran.text()]).toEqual([200, 'ran']);
  });

  it('ends the events of a skipped request', async () => {
    const skipped = await keys.whileBusy('busy', async () => (await get('method/skip-events')).text());
    expect(skipped).not.toContain('data');
    expect(await (await get('method/skip-events')).text()).toContain('data: ran');
  });

  it.each(['empty', 'missing', 'long'])('answers 400 to a request that makes a key that is %s', async (path) => {
    const response = await get(`method/empty/${path}`);
    const { error } = (await response.json()) as { error: { message: string } };
    expect([response.status, error]).toMatchObject([400, { code: 'invalid_request' }]);
    expect(error.message).not.toMatch(/lock|order|key|512/);
  });

  it.each(['events', 'events-later'])('holds the lock until the events end: %s', async (path) => {
    const response = await get(`method/${path}`);
    await eventually(() => feed.observed);
    expect(await keys.isHeld('events')).toBe(true);
    feed.next('one');
    feed.next('end');
    expect(await response.text()).toContain('data: one');
    await keys.untilFree('events');
  });

  it.each(['events', 'events-later'])('frees the lock when the client of the events leaves: %s', async (path) => {
    const leaving = new AbortController();
    await get(`method/${path}`, { signal: leaving.signal });
    await eventually(() => feed.observed);
    expect(await keys.isHeld('events')).toBe(true);
    leaving.abort();
    await keys.untilFree('events');
    await eventually(() => !feed.observed);
  });

  it('holds the lock until a file is sent', async () => {
    const answer = get('method/file');
    await keys.untilHeld('file');
    await eventually(() => sources.count > 0);
    sources.push('content');
    const response = await answer;
    expect(await keys.isHeld('file')).toBe(true);
    sources.push(null);
    expect(await response.text()).toBe('content');
    await keys.untilFree('file');
  });
});
