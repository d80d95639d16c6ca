import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import { firstValueFrom, lastValueFrom, Observable, Subject, toArray } from 'rxjs';
import { currentLease, WithLock } from '../../../../src/lock/index.js';
import { eventually } from '../../../support/eventually.js';
import type { KeyWatch } from '../../../support/key-watch.js';
import { type LockContext, startLockContext } from '../../../support/lock-context.js';

class Cursor {
  readonly #rows = [1, 2, 3];
  count(): number {
    return this.#rows.length;
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<number> {
    for (const row of this.#rows) yield await Promise.resolve(row);
  }
}

@Injectable()
class Feed {
  calls = 0;
  teardowns = 0;
  readonly ends: string[] = [];
  readonly subject = new Subject<number>();

  @WithLock('feed')
  watch(): Observable<number> {
    this.calls += 1;
    return new Observable<number>((subscriber) => {
      if (currentLease() === undefined) subscriber.error(new Error('not inside'));
      subscriber.add(this.subject.subscribe(subscriber));
      subscriber.add(() => (this.teardowns += 1));
    });
  }

  @WithLock('feed')
  watchUntyped() {
    return this.watch();
  }

  @WithLock('feed')
  async later(): Promise<Observable<number>> {
    return Promise.resolve(this.subject.asObservable());
  }

  @WithLock('feed', { onBusy: 'skip' })
  skipped(): Observable<number> {
    return this.subject;
  }

  @WithLock((to: number) => `rows:${to}`)
  async *rows(to: number): AsyncGenerator<number, string> {
    this.calls += 1;
    try {
      for (let row = 0; row < to; row += 1) {
        if (currentLease()?.isHeld !== true) throw new Error('not inside');
        yield await Promise.resolve(row);
      }
      return 'end';
    } finally {
      this.ends.push('rows');
    }
  }

  @WithLock('cursor')
  cursor(): AsyncIterable<number> {
    return new Cursor();
  }

  @WithLock('cursor')
  async cursorLater(): Promise<Cursor> {
    return Promise.resolve(new Cursor());
  }

  @WithLock('short', { leaseMs: 100 })
  async forgotten(): Promise<Observable<number>> {
    return Promise.resolve(this.subject);
  }
}

let context: LockContext<Feed>;
let keys: KeyWatch;
let feed: Feed;
const untilObserved = (): Promise<void> => eventually(() => feed.subject.observed);

beforeEach(async () => {
  context = await startLockContext(Feed);
  keys = context.keys;
  feed = context.service;
});
afterEach(() => context.app.close());

describe('@WithLock() on an Observable', () => {
  it('does nothing until somebody subscribes, and holds the lock until it completes', async () => {
    const watched = feed.watch();
    expect(watched).toBeInstanceOf(Observable);
    await turn();
    expect([feed.calls, await keys.isHeld('feed')]).toEqual([0, false]);
    const values = lastValueFrom(watched.pipe(toArray()));
    await untilObserved();
    feed.subject.next(1);
    await turn();
    expect(await keys.isHeld('feed')).toBe(true);
    feed.subject.next(2);
    feed.subject.complete();
    expect(await values).toEqual([1, 2]);
    expect([await keys.isHeld('feed'), feed.teardowns]).toEqual([false, 1]);
  });

  it('frees the lock when it fails, with its own error', async () => {
    const values = lastValueFrom(feed.watch());
    await untilObserved();
    const error = new RangeError('own');
    feed.subject.error(error);
    await expect(values).rejects.toBe(error);
    expect(await keys.isHeld('feed')).toBe(false);
  });

  it('frees the lock when the subscriber leaves, and leaves the queue while it waits', async () => {
    const first = feed.watch().subscribe();
    await untilObserved();
    const second = feed.watch().subscribe();
    await keys.untilWaiting('feed', 1);
    second.unsubscribe();
    await keys.untilWaiting('feed', 0);
    first.unsubscribe();
    await keys.untilFree('feed');
    expect([feed.calls, feed.teardowns]).toEqual([1, 1]);
  });

  it('fails when the lock is lost', async () => {
    const values = lastValueFrom(feed.watch());
    await untilObserved();
    const failed = expect(values).rejects.toMatchObject({ code: 'lock_lost', reason: 'revoked' });
    await context.locks.forceRelease('feed');
    await failed;
    expect(feed.teardowns).toBe(1);
  });

  it('ends empty where it is skipped', async () => {
    const lease = await context.locks.acquire('feed');
    expect(await lastValueFrom(feed.skipped(), { defaultValue: 'empty' })).toBe('empty');
    await lease.release();
  });

  it('goes on holding where a promise resolves to it, to be read once', async () => {
    const stream = await feed.later();
    expect(await keys.isHeld('feed')).toBe(true);
    const value = firstValueFrom(stream);
    feed.subject.next(7);
    expect(await value).toBe(7);
    await keys.untilFree('feed');
    await expect(firstValueFrom(stream)).rejects.toMatchObject({ code: 'lock_lost' });
  });

  it('is one also where nobody declared it', async () => {
    const values = lastValueFrom(feed.watchUntyped().pipe(toArray()));
    await untilObserved();
    feed.subject.next(1);
    feed.subject.complete();
    expect(await values).toEqual([1]);
    expect(await keys.isHeld('feed')).toBe(false);
  });

  it('gives the lock back when nobody begins to read', async () => {
    const stream = await feed.forgotten();
    await keys.untilFree('short');
    await expect(firstValueFrom(stream)).rejects.toMatchObject({ code: 'lock_lost' });
  });
});

describe('@WithLock() on an async iterable', () => {
  it('takes the lock with the first step and holds it to the end', async () => {
    const rows = feed.rows(2);
    await turn();
    expect([feed.calls, await keys.isHeld('rows:2')]).toEqual([0, false]);
    expect(await rows.next()).toEqual({ done: false, value: 0 });
    expect(await keys.isHeld('rows:2')).toBe(true);
    expect(await rows.next()).toEqual({ done: false, value: 1 });
    expect(await rows.next()).toEqual({ done: true, value: 'end' });
    expect(await keys.isHeld('rows:2')).toBe(false);
    expect(await rows.next()).toEqual({ done: true, value: undefined });
  });

  it('frees the lock when the loop is left', async () => {
    for await (const row of feed.rows(9)) if (row === 1) break;
    expect([feed.ends, await keys.isHeld('rows:9')]).toEqual([['rows'], false]);
  });

  it('leaves the queue when the consumer leaves while it waits', async () => {
    const lease = await context.locks.acquire('rows:1');
    const rows = feed.rows(1);
    const step = rows.next();
    await keys.untilWaiting('rows:1', 1);
    await rows.return('left');
    expect(await step).toEqual({ done: true, value: undefined });
    expect((await context.locks.inspect('rows:1'))?.waiters).toHaveLength(0);
    await lease.release();
    expect(feed.calls).toBe(0);
  });

  it('fails with the next step when the lock is lost', async () => {
    const rows = feed.rows(9);
    await rows.next();
    await context.locks.forceRelease('rows:9');
    await keys.untilFree('rows:9');
    await expect(rows.next()).rejects.toMatchObject({ code: 'lock_lost', reason: 'revoked' });
    expect(feed.ends).toEqual(['rows']);
  });

  it('may come from a function that is no generator', async () => {
    const values: number[] = [];
    for await (const value of feed.cursor()) {
      values.push(value);
      expect(await keys.isHeld('cursor')).toBe(true);
    }
    expect(values).toEqual([1, 2, 3]);
    expect(await keys.isHeld('cursor')).toBe(false);
  });

  it("keeps what a promised stream's class can do", async () => {
    const cursor = await feed.cursorLater();
    expect(cursor).toBeInstanceOf(Cursor);
    expect(cursor.count()).toBe(3);
    for await (const value of cursor) expect([value, await keys.isHeld('cursor')]).toEqual([value, true]);
    expect(await keys.isHeld('cursor')).toBe(false);
  });
});
