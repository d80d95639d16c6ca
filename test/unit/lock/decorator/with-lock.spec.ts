import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { setImmediate as turn } from 'node:timers/promises';
import {
  currentLease,
  LockBusyError,
  LockOptionsError,
  MemoryLockStore,
  WithLock,
} from '../../../../src/lock/index.js';
import { type LockContext, startLockContext } from '../../../support/lock-context.js';

class OrderFault extends Error {}

@Injectable()
class Orders {
  readonly #gates: (() => void)[] = [];
  readonly log: string[] = [];

  @WithLock((orderId: string) => `order:${orderId}`)
  async pay(orderId: string, steps = 3): Promise<number | undefined> {
    for (let step = 0; step < steps; step += 1) {
      this.log.push(`${orderId} ${step}`);
      await turn();
    }
    return currentLease()?.fence;
  }

  @WithLock('report')
  report(): Promise<string> {
    if (currentLease()?.isHeld !== true) throw new Error('not inside');
    return Promise.resolve('made');
  }

  @WithLock('report')
  untyped() {
    return this.report();
  }

  @WithLock(['a', 'b'])
  both(): Promise<readonly string[] | undefined> {
    return Promise.resolve(currentLease()?.keys);
  }

  @WithLock('fault')
  fault(): Promise<void> {
    throw new OrderFault('no such order');
  }

  @WithLock('gate')
  async gate(): Promise<void> {
    await new Promise<void>((resolve) => this.#gates.push(resolve));
  }

  @WithLock('gate', { onBusy: 'fail' })
  failing(): Promise<string> {
    return Promise.resolve('ran');
  }

  @WithLock('gate', { onBusy: 'skip' })
  async skipping(): Promise<string | undefined> {
    this.log.push('not skipped');
    return Promise.resolve('ran');
  }

  @WithLock((order: { id?: string | null }) => `order:${String(order.id)}`)
  async byMember(order: { id?: string | null }): Promise<void> {
    this.log.push(String(order.id));
    await turn();
  }

  @WithLock((rate: number) => (Number.isNaN(rate) ? `rate:${rate}` : ''))
  async byNumber(rate: number): Promise<void> {
    this.log.push(String(rate));
    await turn();
  }

  open(): void {
    for (const open of this.#gates.splice(0)) open();
  }
}

let context: LockContext<Orders>;
let orders: Orders;
beforeEach(async () => {
  context = await startLockContext(Orders);
  orders = context.service;
});
afterEach(async () => {
  orders.open();
  await context.app.close();
});

describe('@WithLock() on a promise', () => {
  it('lets one call of a key run at a time, and those of other keys beside it', async () => {
    await Promise.all([orders.pay('1'), orders.pay('1')]);
    expect(orders.log).toEqual(['1 0', '1 1', '1 2', '1 0', '1 1', '1 2']);
    orders.log.length = 0;
    await Promise.all([orders.pay('1'), orders.pay('2')]);
    expect(orders.log.indexOf('2 0')).toBeLessThan(orders.log.indexOf('1 2'));
  });

  it('hands the lease to the method, with fences that rise', async () => {
    const [first = 0, second = 0] = [await orders.pay('1'), await orders.pay('1')];
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first);
    expect(currentLease()).toBeUndefined();
  });

  it('runs a function that returns a promise, declared or not, inside of the lock, and is reentrant', async () => {
    expect(await orders.report()).toBe('made');
    const untyped = orders.untyped();
    expect(untyped).toBeInstanceOf(Promise);
    expect(await untyped).toBe('made');
    expect(await context.keys.isHeld('report')).toBe(false);
  });

  it('is exclusive across the applications on one store, in the order of the calls', async () => {
    const lockStore = new MemoryLockStore();
    const pods = [await startLockContext(Orders, { lockStore }), await startLockContext(Orders, { lockStore })];
    const log: string[] = [];
    for (const { service } of pods) service.log.push = (line) => log.push(line);
    const fences = await Promise.all(pods.flatMap(({ service }) => [service.pay('1'), service.pay('1')]));
    expect(log.map((line) => line.at(-1)).join('')).toBe('012'.repeat(4));
    expect(new Set(fences).size).toBe(4);
    expect(await lockStore.list(10)).toEqual([]);
    await Promise.all(pods.map(({ app }) => app.close()));
  });

  it('takes several keys together', async () => {
    expect(await orders.both()).toEqual(['a', 'b']);
  });

  it("passes the method's own error on as it is, and frees the lock", async () => {
    const failed = orders.fault();
    await expect(failed).rejects.toBeInstanceOf(OrderFault);
    expect(await context.keys.isHeld('fault')).toBe(false);
  });

  it('fails or skips where the lock is taken, as told, and runs where it is free', async () => {
    const holder = orders.gate();
    while (!(await context.keys.isHeld('gate'))) await turn();
    await expect(orders.failing()).rejects.toBeInstanceOf(LockBusyError);
    expect(await orders.skipping()).toBeUndefined();
    expect(orders.log).toEqual([]);
    orders.open();
    await holder;
    expect([await orders.failing(), await orders.skipping()]).toEqual(['ran', 'ran']);
  });

  it.each([{}, { id: null }])('fails at call time for a key that is made of %p', async (order) => {
    await expect(orders.byMember(order)).rejects.toBeInstanceOf(LockOptionsError);
    expect(orders.log).toEqual([]);
  });

  it.each([Number.NaN, 1])('fails at call time for a key of NaN, and for an empty one (%p)', async (rate) => {
    await expect(orders.byNumber(rate)).rejects.toBeInstanceOf(LockOptionsError);
    expect(orders.log).toEqual([]);
  });

  it("fails with the key function's own error", async () => {
    // @ts-expect-error -- a caller without types
    await expect(orders.byMember()).rejects.toBeInstanceOf(TypeError);
  });

  it('says what is wrong with an instance that Nest did not make', async () => {
    await expect(new Orders().report()).rejects.toThrow(/Orders\.report\(\) has no locks.*Nest made/);
  });

  it('lets go when the application closes', async () => {
    const held = orders.gate();
    while (!(await context.keys.isHeld('gate'))) await turn();
    await context.app.close();
    expect(await context.locks.inspect('gate').catch(() => undefined)).toBeUndefined();
    orders.open();
    await expect(held).rejects.toMatchObject({ code: 'lock_lost', reason: 'closing' });
    await expect(orders.report()).rejects.toMatchObject({ code: 'draining' });
  });
});
