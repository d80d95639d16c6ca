import { finished, Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { StreamableFile } from '@nestjs/common';
import { isObservable, Observable } from 'rxjs';
import type { Lease } from '../lease.js';
import { LockLostError } from '../lock.errors.js';
import { isAsyncIterable, LockedIterator, toError } from './locked-iterator.js';
import { subscribeUnder } from './locked-observable.js';

/**
 * What a promise resolved to, if it is a stream: one whose end ends the lease, and which fails with LockLostError when the lease is
 * lost. It has to be begun within the time of one lease; after that the lock is given back, and reading fails with LockLostError.
 * An Observable or an async iterable is read once.
 * @returns undefined: no stream; the lease goes on as it was
 */
export function holdStream(result: unknown, lease: Lease): unknown {
  if (result instanceof StreamableFile) return holdReadable(result.getStream(), lease, result);
  if (result instanceof Readable) return holdReadable(result, lease, result);
  if (isObservable(result)) return holdObservable(result, lease);
  if (!isAsyncIterable(result)) return undefined;
  return result instanceof ReadableStream ? ReadableStream.from(holdIterable(result, lease)) : asItself(result, lease);
}

function holdReadable<Result>(stream: Readable, lease: Lease, result: Result): Result {
  const { signal } = lease;
  const fail = (): void => {
    stream.destroy(toError(signal.reason));
  };
  const giveBack = setTimeout(() => {
    if (!isBegun(stream)) stream.destroy(new LockLostError(lease.key, 'released', { fence: lease.fence }));
  }, lease.remainingMs());
  giveBack.unref();
  signal.addEventListener('abort', fail);
  // Its listener for errors stays, so that a stream which nobody reads fails quietly.
  finished(stream, () => {
    clearTimeout(giveBack);
    signal.removeEventListener('abort', fail);
    void lease.release();
  });
  if (signal.aborted) fail();
  return result;
}

/** Whether somebody reads it, also if nothing has come yet. */
function isBegun(stream: Readable): boolean {
  return stream.readableDidRead || stream.readableFlowing !== null || stream.listenerCount('readable') > 0;
}

function holdObservable(source: Observable<unknown>, lease: Lease): Observable<unknown> {
  const begin = beginning(lease);
  return new Observable((subscriber) => {
    begin();
    subscribeUnder(lease, () => source, subscriber);
  });
}

function holdIterable(source: AsyncIterable<unknown, unknown, unknown>, lease: Lease): AsyncGenerator {
  const begin = beginning(lease);
  return new LockedIterator(async () => {
    begin();
    return Promise.resolve({ lease, iterator: source[Symbol.asyncIterator]() });
  });
}

/** Keeps what a client library's stream can do beside being iterated. */
function asItself(source: AsyncIterable<unknown, unknown, unknown>, lease: Lease): unknown {
  const held = holdIterable(source, lease);
  return new Proxy(source, {
    get: (target, name) => {
      if (name === Symbol.asyncIterator) return () => held;
      const owner = name in held && name in target ? held : target;
      const member: unknown = Reflect.get(owner, name, owner);
      return typeof member === 'function'
        ? (...given: unknown[]): unknown => Reflect.apply(member, owner, given)
        : member;
    },
  });
}

/** @returns to be called when the reading begins; throws if it has begun before, or can't any more */
function beginning(lease: Lease): () => void {
  let isBegun = false;
  const giveBack = setTimeout(() => void lease.release(), lease.remainingMs());
  giveBack.unref();
  const forget = (): void => {
    clearTimeout(giveBack);
  };
  lease.signal.addEventListener('abort', forget, { once: true });
  return () => {
    forget();
    lease.signal.removeEventListener('abort', forget);
    if (isBegun) throw new LockLostError(lease.key, 'released', { fence: lease.fence });
    isBegun = true;
    lease.assertHeld();
  };
}
