import { UseInterceptors } from '@nestjs/common';
import { LockOptionsError } from '../lock.errors.js';
import { checkWithLockOptions, type WithLockOptions } from './busy.options.js';
import { injectLocks, type Locked, locksOf } from './lock.injection.js';
import { checkFixedKey, type LockKey, keysFor } from './lock-key.js';
import { lockedResult } from './locked-result.js';
import { dressAs } from './method.wrapper.js';
import { returnKindOf } from './return-kind.js';
import { SkipAnswer } from './skip.answer.js';
import type { WithLockDecorator } from './with-lock.types.js';

/**
 * Runs a method of any class that Nest makes under a lock: `LockService.withLock()` in one line. Inside, `currentLease()` is the
 * lease. Stands above or below other decorators; the method keeps its name, its length and all its metadata. On a route, guards and
 * pipes run before the lock is taken.
 *
 * The lock is held until the returned promise settles (and a stream that it resolves to has ended), the Observable completes, fails
 * or is unsubscribed, or the iteration ends or is left. An Observable takes the lock and calls the method with each subscription, an
 * async generator with its first step. A stream whose lock is lost fails with LockLostError, and so does one that a promise resolved
 * to and nobody began to read within the time of one lease.
 *
 * The call fails with what `LockService.withLock()` throws, and with LockKeyError (over HTTP 400) for a key that is empty, too long, or
 * has a part that is undefined, null or NaN; what the method itself throws is passed on as it is. A client that leaves while its
 * request waits keeps its place, since a method does not know who called it; LockInterceptor does. An application without LockModule
 * does not start.
 *
 * @throws LockOptionsError, where the class is defined, for options or a fixed key that are no good
 * @param key a fixed one, or a function of the method's parameters
 * @param options `onBusy: 'skip'`: a call that finds the lock taken gives undefined (an empty stream), and as a request 204; events
 *   of a skipped `@Sse()` route just end, since their headers are out before
 *
 * @example
 * @WithLock((orderId: string) => `order:${orderId}`, { waitMs: 5_000 })
 * async pay(orderId: string): Promise<Receipt> {
 *   return this.bank.charge(orderId, { fence: currentLease()?.fence });
 * }
 */
export function WithLock<Parameters extends readonly unknown[] = [], const Options extends WithLockOptions = object>(
  key: LockKey<Parameters>,
  options?: Options,
): WithLockDecorator<Parameters, Options>;
export function WithLock(key: LockKey<readonly unknown[]>, options: WithLockOptions = {}): MethodDecorator {
  return (prototype: object, name: string | symbol, descriptor?: PropertyDescriptor) => {
    const method: unknown = descriptor?.value;
    const title = `${prototype.constructor.name}.${String(name)}`;
    if (typeof prototype === 'function' || descriptor === undefined || typeof method !== 'function') {
      throw new LockOptionsError(`@WithLock() is for methods of instances; ${title} is none`);
    }
    checkFixedKey(key);
    checkWithLockOptions(options);
    const { template = title } = options;
    injectLocks(prototype);
    const skipAnswer = new SkipAnswer();
    const kind = returnKindOf(method, prototype, name);
    const wrapper = function (this: Locked | undefined, ...parameters: unknown[]): unknown {
      return lockedResult(kind, {
        locks: () => locksOf(this, title),
        keys: () => keysFor(key, parameters),
        options: { ...options, template },
        work: (): unknown => Reflect.apply(method, this, parameters),
        onSkip: () => {
          skipAnswer.note();
        },
      });
    };
    descriptor.value = dressAs(wrapper, method);
    if (options.onBusy === 'skip') UseInterceptors(skipAnswer)(prototype, name, descriptor);
  };
}
