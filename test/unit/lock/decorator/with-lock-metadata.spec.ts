import { describe, expect, it } from '@jest/globals';
import { SSE_METADATA as NEST_SSE_METADATA } from '@nestjs/common/constants.js';
import { Inject, Injectable, Module, Scope, SetMetadata, type Type } from '@nestjs/common';
import { ContextIdFactory, NestFactory } from '@nestjs/core';
import { currentLease, LockModule, LockService, MemoryLockStore, WithLock } from '../../../../src/lock/index.js';
import { SSE_METADATA } from '../../../../src/lock/decorator/skip.answer.js';
import { RootModule, startLockContext } from '../../../support/lock-context.js';

const Mark = (name: string): MethodDecorator => SetMetadata(`mark:${name}`, { name });

class Plain {
  @Mark('above')
  @Mark('below')
  async work(first: string, second: number): Promise<string> {
    return Promise.resolve(`${first}${second}`);
  }
}

class Decorated {
  @Mark('above')
  @WithLock('k')
  @Mark('below')
  async work(first: string, second: number): Promise<string> {
    return Promise.resolve(`${first}${second}`);
  }
}

const metadataOf = (keys: readonly unknown[], read: (key: unknown) => unknown): unknown =>
  keys.map((key) => [key, read(key)]);

const describeMethod = (prototype: Plain | Decorated): unknown => {
  const method = Object.getOwnPropertyDescriptor(prototype, 'work')?.value as unknown;
  if (typeof method !== 'function') throw new Error('no method');
  return {
    name: method.name,
    length: method.length,
    metadata: metadataOf(Reflect.getMetadataKeys(method), (key) => Reflect.getMetadata(key, method)),
    ofProperty: metadataOf(Reflect.getMetadataKeys(prototype, 'work'), (key) =>
      Reflect.getMetadata(key, prototype, 'work'),
    ),
    property: Object.getOwnPropertyNames(Object.getOwnPropertyDescriptor(prototype, 'work')),
    names: Object.getOwnPropertyNames(prototype),
  };
};

@Injectable()
class Base {
  @WithLock('base')
  async base(): Promise<string | undefined> {
    return Promise.resolve(currentLease()?.key);
  }

  @WithLock('overridden')
  async either(): Promise<string | undefined> {
    return Promise.resolve(currentLease()?.key);
  }
}

@Injectable()
class Derived extends Base {
  @Inject('word')
  readonly word: string | undefined;

  @WithLock('derived')
  async derived(): Promise<string | undefined> {
    return Promise.resolve(`${String(currentLease()?.key)} ${String(this.word)}`);
  }

  override async either(): Promise<string | undefined> {
    return Promise.resolve(currentLease()?.key ?? 'free');
  }
}

@Injectable({ scope: Scope.REQUEST })
class Scoped {
  @WithLock(() => 'scoped')
  async key(): Promise<string | undefined> {
    return Promise.resolve(currentLease()?.key);
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class Transient extends Scoped {}

describe('@WithLock() and its class', () => {
  it('leaves a method what it was: name, length, and the metadata from above and from below', () => {
    expect(describeMethod(Decorated.prototype)).toEqual(describeMethod(Plain.prototype));
  });

  it('is inherited, and an override without it is not locked', async () => {
    const root = { module: RootModule, imports: [LockModule.forRoot({})] };
    const providers = [Derived, Base, { provide: 'word', useValue: 'word' }];
    const app = await NestFactory.createApplicationContext({ ...root, providers }, { logger: false });
    const derived = app.get(Derived);
    expect(await derived.base()).toBe('base');
    expect(await derived.derived()).toBe('derived word');
    expect(await derived.either()).toBe('free');
    expect(await app.get(Base).either()).toBe('overridden');
    await app.close();
  });

  it.each<Type<Scoped>>([Scoped, Transient])('works in every scope: %p', async (provider) => {
    const root = { module: RootModule, imports: [LockModule.forRoot({})], providers: [provider] };
    const app = await NestFactory.createApplicationContext(root, { logger: false });
    const instance = await app.resolve(provider, ContextIdFactory.create());
    expect(await instance.key()).toBe('scoped');
    await app.close();
  });

  it('keeps two applications in one process apart', async () => {
    const [one, other] = [await startLockContext(Decorated), await startLockContext(Decorated)];
    const lease = await one.locks.acquire('k');
    expect(await other.service.work('a', 1)).toBe('a1');
    await lease.release();
    await Promise.all([one.app.close(), other.app.close()]);
  });

  it('lets no application without LockModule start, and says what is missing', async () => {
    @Module({ providers: [Decorated] })
    class WithoutLocks {}

    const started = NestFactory.createApplicationContext(WithoutLocks, { logger: false, abortOnError: false });
    await expect(started).rejects.toThrow(/Decorated.*@WithLock\(\): import LockModule\.forRoot\(\)/s);
  });

  it('finds the service of an application that provides it by itself', async () => {
    const mine = { provide: LockService, inject: [], useFactory: () => new LockService(new MemoryLockStore()) };
    const root = { module: RootModule, providers: [Decorated, mine] };
    const app = await NestFactory.createApplicationContext(root, { logger: false });
    expect(await app.get(Decorated).work('a', 1)).toBe('a1');
    await app.close();
  });

  it('refuses what is no method of an instance', () => {
    expect(() => {
      class Wrong {
        readonly word = 'w';

        @WithLock('k')
        static async work(): Promise<void> {
          await Promise.resolve();
        }
      }
      return Wrong;
    }).toThrow('@WithLock() is for methods of instances');
  });

  it('refuses options that are no good where the class is defined', () => {
    expect(() => {
      class Wrong {
        @WithLock('k', { leaseMs: 1 })
        async work(): Promise<void> {
          await Promise.resolve();
        }
      }
      return Wrong;
    }).toThrow('leaseMs must be');
  });

  it('knows a route that sends events by the name that Nest uses', () => {
    expect(SSE_METADATA).toBe(NEST_SSE_METADATA);
  });
});
