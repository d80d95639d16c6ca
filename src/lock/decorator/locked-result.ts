import { defer, mergeMap, observable as interop, type Observer } from 'rxjs';
import { endAfter, type LockedCall, takeFor, workUnder } from './locked-call.js';
import { holdStream } from './held-stream.js';
import { isAsyncIterable, lockIterable } from './locked-iterator.js';
import { lockObservable, toObservable } from './locked-observable.js';
import type { ReturnKind } from './return-kind.js';

/** What the caller gets in place of what the method returns; ends when that ends, and then the lock is free. */
export function lockedResult(kind: ReturnKind, call: LockedCall): unknown {
  if (kind === 'observable') return lockObservable(call);
  if (kind === 'async-iterable') return lockIterable(call);
  return kind === 'promise' ? lockPromise(call) : lockUnknown(call);
}

/** A stream that the promise resolves to counts as its continuation. */
async function lockPromise(call: LockedCall): Promise<unknown> {
  const lease = await takeFor(call);
  if (lease === undefined) return undefined;
  const result = await workUnder(lease, call.work);
  const stream = holdStream(result, lease);
  if (stream !== undefined) return stream;
  await endAfter(lease, result);
  return result;
}

/**
 * Nobody knows what the method returns before it is called, so the call begins now. What its caller gets is a promise that is also
 * an Observable and an async iterable: awaited, it gives what the method gave; subscribed to or iterated, the elements of the stream
 * that the method returned. All of them share the one call, so a stream can be read by one of them only. Whoever reads none of
 * them hears of a failure as of any promise that nobody awaits.
 */
function lockUnknown(call: LockedCall): Promise<unknown> {
  const promise = lockPromise(call);
  // Not the promise itself: it will look like an Observable.
  const observable = defer(() => promise.then((result) => result)).pipe(mergeMap(toObservable));
  return Object.assign(promise, {
    [Symbol.asyncIterator]: () => iterateLater(promise),
    [interop]: () => observable,
    subscribe: (observer: Partial<Observer<unknown>>) => observable.subscribe(observer),
    pipe: observable.pipe.bind(observable),
  });
}

async function* iterateLater(promise: Promise<unknown>): AsyncGenerator {
  const result = await promise;
  if (isAsyncIterable(result)) yield* result;
  else if (result !== undefined) throw new TypeError('a method under @WithLock() returned nothing to iterate');
}
