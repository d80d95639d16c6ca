import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AttemptTimers, type AttemptLimits } from '../../../src/ai/call/attempt.timers.js';

describe('AttemptTimers', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const limits: AttemptLimits = { provider: 'acme', totalMs: 60_000, firstTokenMs: 2_000, idleMs: 1_000 };
  const start = (more: Partial<AttemptLimits> = {}, parent = new AbortController()): AttemptTimers =>
    new AttemptTimers({ ...limits, ...more }, parent.signal);

  it('ends an attempt that shows nothing within the first-token limit', () => {
    const timers = start();
    jest.advanceTimersByTime(1_999);
    expect(timers.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(timers.signal.reason).toMatchObject({ code: 'timeout', blame: 'upstream' });
    expect(jest.getTimerCount()).toBe(0);
  });

  it('lets the idle limit rule once something has come, and starts it anew with every piece', () => {
    const timers = start();
    timers.progressed();
    for (let piece = 0; piece < 5; piece += 1) {
      jest.advanceTimersByTime(999);
      timers.progressed();
    }
    expect(timers.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1_000);
    expect(timers.signal.reason).toMatchObject({ code: 'timeout' });
  });

  it('does not count the time in which the reader downstream holds it back', () => {
    const timers = start();
    timers.progressed();
    timers.hold();
    jest.advanceTimersByTime(30_000);
    timers.resume();
    timers.progressed();
    expect(timers.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1_000);
    expect(timers.signal.aborted).toBe(true);
  });

  it('counts again after a hold in which its time ran out, whether or not a piece comes', () => {
    const timers = start();
    timers.progressed();
    timers.hold();
    jest.advanceTimersByTime(5_000);
    timers.resume();
    expect(timers.signal.aborted).toBe(false);
    jest.advanceTimersByTime(1_000);
    expect(timers.signal.reason).toMatchObject({ message: 'acme fell silent for 1000 ms' });
  });

  it('starts no clock after it has aborted', () => {
    const timers = start();
    jest.advanceTimersByTime(2_000);
    timers.progressed();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends everything at the total, however lively', () => {
    const timers = start({ totalMs: 5_000 });
    for (let ms = 0; ms < 5_000; ms += 500) {
      timers.progressed();
      jest.advanceTimersByTime(500);
    }
    expect(timers.signal.reason).toMatchObject({ code: 'timeout' });
  });

  it('passes the reason of its parent on, also of one that has aborted before', () => {
    const parent = new AbortController();
    const timers = start({}, parent);
    const reason = new Error('left');
    parent.abort(reason);
    expect(timers.signal.reason).toBe(reason);
    expect(start({}, parent).signal.reason).toBe(reason);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('leaves no timer after stop()', () => {
    const timers = start();
    timers.progressed();
    timers.stop();
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each<[string, (timers: AttemptTimers, parent: AbortController) => void]>([
    [
      'it is stopped',
      (timers) => {
        timers.stop();
        timers.stop();
      },
    ],
    [
      'a clock runs out',
      (timers) => {
        jest.advanceTimersByTime(2_000);
        timers.stop();
      },
    ],
    [
      'the caller leaves',
      (timers, parent) => {
        parent.abort();
        timers.stop();
      },
    ],
  ])('tells once that the attempt is over when %s', (_case, end) => {
    const parent = new AbortController();
    const timers = start({}, parent);
    let told = 0;
    timers.onStop(() => (told += 1));
    expect(told).toBe(0);
    end(timers, parent);
    expect(told).toBe(1);
  });

  it('tells at once where the attempt is over already', () => {
    const parent = new AbortController();
    parent.abort();
    let told = 0;
    start({}, parent).onStop(() => (told += 1));
    expect(told).toBe(1);
  });
});
