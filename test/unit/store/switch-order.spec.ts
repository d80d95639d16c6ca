import { describe, expect, it } from '@jest/globals';
import { SwitchOrder } from '../../../src/store/switch.order.js';

describe('SwitchOrder', () => {
  it('takes a switch, and the same from the other sentinels', () => {
    const order = new SwitchOrder();
    expect([order.takes('a', 'b'), order.takes('a', 'b')]).toEqual([true, true]);
  });

  it('does not go back to a master that is being left, where the sentinel that led to it tells so late', () => {
    const order = new SwitchOrder();
    order.leave('b');
    expect(order.takes('a', 'b')).toBe(false);
    expect(order.takes('b', 'c')).toBe(true);
    expect(order.takes('a', 'b')).toBe(false);
  });

  it('takes one that leads back', () => {
    const order = new SwitchOrder();
    order.leave('b');
    expect([order.takes('b', 'c'), order.takes('c', 'b'), order.takes('b', 'c')]).toEqual([true, true, true]);
    order.leave('c');
    expect([order.takes('c', 'a'), order.takes('a', 'b'), order.takes('b', 'c')]).toEqual([true, true, true]);
  });

  it('takes one after a failover that was given up', () => {
    const order = new SwitchOrder();
    order.leave('b');
    order.leave('b');
    expect(order.takes('b', 'c')).toBe(true);
  });

  it('takes one from a sentinel that has missed the one before', () => {
    const order = new SwitchOrder();
    expect([order.takes('a', 'b'), order.takes('b', 'c'), order.takes('a', 'c')]).toEqual([true, true, true]);
  });
});
