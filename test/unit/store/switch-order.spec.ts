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

  it('finds a switch that nobody told of, once', () => {
    const order = new SwitchOrder();
    expect([order.hasMissed('a', 5), order.hasMissed('a', 5), order.hasMissed('b', 6)]).toEqual([false, false, true]);
    expect(order.left).toBe('a');
    expect([order.hasMissed('b', 6), order.hasMissed('b', 7), order.takes('a', 'b')]).toEqual([false, false, true]);
  });

  it('finds none in what was told, nor in what a sentinel says that has missed it', () => {
    const order = new SwitchOrder();
    order.hasMissed('a', 5);
    order.takes('a', 'b');
    expect([order.hasMissed('b', 6), order.hasMissed('a', 5), order.hasMissed('a', 0)]).toEqual([false, false, false]);
    order.takes('b', 'c');
    expect([order.hasMissed('b', 6), order.hasMissed('c', 7)]).toEqual([false, false]);
  });

  it('goes back to a master that is being left only where another failover led to it', () => {
    const order = new SwitchOrder();
    order.hasMissed('a', 5);
    order.leave('b');
    expect([order.hasMissed('b', 6), order.takes('b', 'c'), order.hasMissed('b', 9)]).toEqual([false, true, true]);
  });

  it('begins with what it is told first', () => {
    const order = new SwitchOrder();
    order.takes('a', 'b');
    expect([order.hasMissed('a', 5), order.hasMissed('b', 6), order.hasMissed('c', 7)]).toEqual([false, false, true]);
    expect(order.left).toBe('b');
  });
});
