import { from, isObservable, type Observable, Observable as RxObservable, of, type Subscriber } from 'rxjs';
import { runInLease } from '../current-lease.js';
import type { Lease } from '../lease.js';
import { endAfter, type LockedCall, takeFor } from './locked-call.js';

/**
 * Takes the lock and calls the method with each subscription, and holds it until that ends: by completion, by error, or because
 * the subscriber left. A subscriber that leaves while it waits for the lock leaves the queue.
 */
export function lockObservable(call: LockedCall): Observable<unknown> {
  return new RxObservable((subscriber) => {
    const leaving = new AbortController();
    subscriber.add(() => {
      leaving.abort();
    });
    void begin(call, subscriber, leaving.signal);
  });
}

/** Subscribes to a source under a lease that ends with the subscription. A lease that is lost ends it with LockLostError. */
export function subscribeUnder(lease: Lease, source: () => unknown, subscriber: Subscriber<unknown>): void {
  const fail = (): void => {
    subscriber.error(lease.signal.reason);
  };
  lease.signal.addEventListener('abort', fail);
  subscriber.add(() => {
    lease.signal.removeEventListener('abort', fail);
    void lease.release();
  });
  if (lease.signal.aborted) fail();
  if (subscriber.closed) return;
  try {
    runInLease(lease, () => {
      subscriber.add(forward(lease, toObservable(source()), subscriber));
    });
  } catch (error) {
    void lease.release().then(() => {
      subscriber.error(error);
    });
  }
}

/** What a method of this kind returned; an Observable inside of a promise too. */
export function toObservable(result: unknown): Observable<unknown> {
  if (isObservable(result)) return result;
  return result instanceof Promise ? from(result) : of(result);
}

async function begin(call: LockedCall, subscriber: Subscriber<unknown>, signal: AbortSignal): Promise<void> {
  try {
    const lease = await takeFor(call, signal);
    if (lease === undefined) subscriber.complete();
    else if (subscriber.closed) await lease.giveBack();
    else subscribeUnder(lease, call.work, subscriber);
  } catch (error) {
    // A subscriber that has left hears nothing.
    subscriber.error(error);
  }
}

/** The end reaches the subscriber when the lock is free. */
function forward(lease: Lease, source: Observable<unknown>, subscriber: Subscriber<unknown>): { unsubscribe(): void } {
  return source.subscribe({
    next: (value) => {
      subscriber.next(value);
    },
    error: (error: unknown) => {
      void lease.release().then(() => {
        subscriber.error(error);
      });
    },
    complete: () => {
      endAfter(lease).then(
        () => {
          subscriber.complete();
        },
        (error: unknown) => {
          subscriber.error(error);
        },
      );
    },
  });
}
