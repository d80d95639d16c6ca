import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { firstValueFrom, of } from 'rxjs';
import { LockInterceptor, LockService, MemoryLockStore, RequestLock, WithLock } from '../../../src/lock/index.js';
import { KeyTemplates, type LockObserver } from '../../../src/lock/lock.observer.js';
import { startLockContext } from '../../support/lock-context.js';

const KEY = 'alice@example.com:cart';

@Injectable()
class Carts {
  @WithLock((user: string) => `${user}:cart`)
  async fill(user: string): Promise<string> {
    return Promise.resolve(user);
  }

  @WithLock((user: string) => `${user}:cart`, { template: 'cart:*' })
  async pay(user: string): Promise<string> {
    return Promise.resolve(user);
  }
}

@RequestLock(KEY)
class CartController {
  show(): string {
    return 'cart';
  }

  @RequestLock(KEY, { template: 'cart:*' })
  buy(): string {
    return 'bought';
  }
}

function watch(): { readonly observer: LockObserver; readonly templates: Set<string> } {
  const templates = new Set<string>();
  const observer: LockObserver = {
    waiting: (template) => void templates.add(template),
    waited: (template) => void templates.add(template),
    held: (template) => void templates.add(template),
  };
  return { observer, templates };
}

describe('the name of a lock in metrics', () => {
  it('is nothing of its key where code takes it', async () => {
    const { observer, templates } = watch();
    const locks = new LockService(new MemoryLockStore(), { observer });
    await locks.withLock(KEY, {}, () => undefined);
    expect([...templates]).toEqual(['*']);
    await locks.close();
  });

  it('is that of the method under @WithLock(), unless it is given', async () => {
    const { observer, templates } = watch();
    const { app, service } = await startLockContext(Carts, { observer });
    await service.fill('alice@example.com');
    await service.pay('alice@example.com');
    expect([...templates]).toEqual(['Carts.fill', 'cart:*']);
    await app.close();
  });

  it('is that of the handler under @RequestLock(), unless it is given', async () => {
    const { observer, templates } = watch();
    const locks = new LockService(new MemoryLockStore(), { observer });
    const interceptor = new LockInterceptor(locks, new Reflector());
    for (const name of ['show', 'buy']) {
      const handler: unknown = Object.getOwnPropertyDescriptor(CartController.prototype, name)?.value;
      if (!isMethod(handler)) throw new TypeError(`there is no ${name}()`);
      const context = new ExecutionContextHost([{}], CartController, handler);
      context.setType('rpc');
      await firstValueFrom(await interceptor.intercept(context, { handle: () => of('done') }));
    }
    expect([...templates]).toEqual(['CartController.show', 'cart:*']);
    await locks.close();
  });

  it('is one of two hundred at most, should names be made of data after all', () => {
    const templates = new KeyTemplates();
    const names = Array.from({ length: 300 }, (_, index) => templates.of(`user ${index}`));
    expect(new Set(names).size).toBe(201);
    expect(names.at(-1)).toBe('other');
    expect(templates.of('user 7')).toBe('user 7');
  });
});

function isMethod(value: unknown): value is () => unknown {
  return typeof value === 'function';
}
