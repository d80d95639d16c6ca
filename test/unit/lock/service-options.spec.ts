import { describe, expect, it } from '@jest/globals';
import { LockOptionsError, LockService, MemoryLockStore, RequestLock, WithLock } from '../../../src/lock/index.js';
import { UnreliableStore } from '../../support/unreliable-store.js';

/** What a caller without types, or with a file of settings, may hand over. */
const NO_OPTIONS: readonly (readonly [what: string, options: unknown, fact: string])[] = [
  ['options: null', null, 'lock options must be an object, not null'],
  ['options: "x"', 'x', 'lock options must be an object, not "x"'],
  ['a list', [], 'lock options must be an object'],
  ['mode: null', { mode: null }, "mode must be 'exclusive', 'shared' or { permits: n }, not null"],
  ['mode: "both"', { mode: 'both' }, 'not "both"'],
  ['mode: 5', { mode: 5 }, 'not number'],
  ['mode: {}', { mode: {} }, 'not object'],
  ['permits: "2"', { mode: { permits: '2' } }, 'permits must be a whole number from 1 to 1000000, not "2"'],
  ['permits: 1.5', { mode: { permits: 1.5 } }, 'not 1.5'],
  ['leaseMs: null', { leaseMs: null }, 'leaseMs must be'],
  ['minHoldMs: 5n', { minHoldMs: 5n }, 'minHoldMs must be'],
  ['description: 5', { description: 5 }, 'description must be a string, not number'],
  ['description: null', { description: null }, 'description must be a string, not null'],
  ['template: null', { template: null }, 'template must be a string, not null'],
  ['signal: {}', { signal: {} }, 'signal must be an AbortSignal, not object'],
  ['signal: null', { signal: null }, 'signal must be an AbortSignal, not null'],
];

const NO_KEYS: readonly (readonly [what: string, keys: unknown, fact: string])[] = [
  ['5', 5, 'must be a string, not number'],
  ['undefined', undefined, 'must be a string, not undefined'],
  ['null', null, 'must be a string, not null'],
  ['an object', {}, 'must be a string, not object'],
  ['[undefined]', [undefined], 'must be a string, not undefined'],
  ['a symbol among others', ['a', Symbol('x')], 'must be a string, not symbol'],
  ['none', [], 'at least one lock key'],
];

/** Calls as somebody without types would. */
function call(target: object, name: string, ...given: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(target, name);
  if (typeof method !== 'function') throw new Error(`there is no ${name}()`);
  const result: unknown = Reflect.apply(method, target, given);
  return result;
}

function construct(...given: readonly unknown[]): unknown {
  const service: unknown = Reflect.construct(LockService, given);
  return service;
}

describe('LockService and what it is given', () => {
  const store = new UnreliableStore(new MemoryLockStore());
  const locks = new LockService(store);

  it.each(NO_OPTIONS)('refuses %s at once, before anything is asked', async (_, options, fact) => {
    for (const name of ['acquire', 'tryAcquire']) {
      await expect(call(locks, name, 'k', options)).rejects.toThrow(fact);
      await expect(call(locks, name, 'k', options)).rejects.toBeInstanceOf(LockOptionsError);
    }
    expect(store.calls.acquire).toBe(0);
  });

  it.each(NO_KEYS)('refuses %s for a key', async (_, keys, fact) => {
    await expect(call(locks, 'acquire', keys)).rejects.toThrow(fact);
    await expect(call(locks, 'acquire', keys)).rejects.toBeInstanceOf(LockOptionsError);
    expect(store.calls.acquire).toBe(0);
  });

  it.each([[['k']], [['k', {}]], [['k', {}, 'work']], [['k', null, () => 1]]])(
    'refuses withLock(%j) before it takes the lock',
    async (given) => {
      await expect(call(locks, 'withLock', ...given)).rejects.toBeInstanceOf(LockOptionsError);
      expect(store.calls.acquire).toBe(0);
    },
  );

  it.each([Number.NaN, -5, 'x', null, Infinity])('refuses a grace of %p', (graceMs) => {
    expect(() => construct(store, { graceMs })).toThrow(LockOptionsError);
  });

  it.each([null, 5])('refuses %p for the options of the service, and for its defaults', (given) => {
    expect(() => construct(store, given)).toThrow(LockOptionsError);
    expect(() => construct(store, { defaults: given })).toThrow(LockOptionsError);
  });

  it('takes keys that only contain the name of a missing value, and addresses', async () => {
    const keys = [
      'order:null_island',
      '/a-null-b/',
      'undefined.ts',
      'a.null',
      'nan:NaN_1',
      'ip:::1',
      'ip:fe80::',
      '//x',
    ];
    for (const key of keys) await (await locks.acquire(key)).release();
  });

  it.each(['order:', 'null', 'a:null:b', 'a/undefined', 'a|NaN', 'a,null', 'null b', ':'])(
    'refuses %j',
    async (key) => {
      await expect(locks.acquire(key)).rejects.toThrow('a value that it is made of is missing');
    },
  );
});

describe('@WithLock() and @RequestLock() where the class is defined', () => {
  class Orders {
    pay = (): void => undefined;
    async refund(): Promise<void> {
      return Promise.resolve();
    }
  }
  const refund = (): PropertyDescriptor => ({ ...Object.getOwnPropertyDescriptor(Orders.prototype, 'refund') });
  /** As the compiler does. */
  const decorate = (decorator: unknown, name: string, descriptor?: PropertyDescriptor): unknown =>
    call({ decorator }, 'decorator', Orders.prototype, name, descriptor);

  it.each(['', 'order:null', 5, [], undefined])('refuse %j for a fixed key', (key) => {
    for (const make of [WithLock, RequestLock]) {
      expect(() => decorate(call({ make }, 'make', key), 'refund', refund())).toThrow(LockOptionsError);
    }
  });

  it.each([null, { description: 5 }, { onBusy: 'x' }, { leaseMs: -1 }])('refuse %j for options', (options) => {
    for (const make of [WithLock, RequestLock]) {
      expect(() => decorate(call({ make }, 'make', 'k', options), 'refund', refund())).toThrow(LockOptionsError);
    }
  });

  it('refuses a property that holds a function', () => {
    expect(() => decorate(WithLock('k'), 'pay')).toThrow('@WithLock() is for methods of instances; Orders.pay is none');
  });
});
