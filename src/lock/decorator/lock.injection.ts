import { Inject } from '@nestjs/common';
import { LockOptionsError } from '../lock.errors.js';
import { LockService } from '../lock.service.js';

/** Where Nest puts the service into an instance. What it is called stands in Nest's error where there is none. */
const LOCKS = Symbol('the locks of @WithLock(): import LockModule.forRoot() or forRootAsync() once');

/** An instance of a class with a decorated method. */
export interface Locked {
  readonly [LOCKS]?: LockService;
}

/** Makes Nest give LockService to every instance of a class and of the classes that extend it, or refuse to start. */
export function injectLocks(prototype: object): void {
  if (Reflect.hasMetadata(LOCKS, prototype)) return;
  Reflect.defineMetadata(LOCKS, true, prototype);
  Inject(LockService)(prototype, LOCKS);
}

/** @throws LockOptionsError for an instance that Nest did not make */
export function locksOf(instance: Locked | undefined, method: string): LockService {
  const locks = instance?.[LOCKS];
  if (locks !== undefined) return locks;
  throw new LockOptionsError(
    `${method}() has no locks: @WithLock() works on instances that Nest made of their class, not on those of \`new\` or a useFactory`,
  );
}
