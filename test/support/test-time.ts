import { expect, jest } from '@jest/globals';
import { sized } from './proof-scale.js';

/** How time passes in a test. */
export interface TestTime {
  begin(): void;
  /** @throws {Error} where a timer is left, if that can be known */
  end(): void;
  /** As sized(); three times as much in `npm test` where waiting costs nothing. */
  size(small: number, full: number): number;
  /** As if the whole process were busy, or stood still: time passes, and no timer fires. */
  block(ms: number): void;
  /** Timers that are armed now. */
  timers(): number;
  /** Asserts that no more than this has passed; on a shared machine, whose noise passes too, nothing can be said. */
  expectAtMost(ms: number, startedAt: number): void;
}

export const REAL_TIME: TestTime = {
  begin: () => undefined,
  end: () => undefined,
  size: sized,
  block: (ms) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  },
  timers: () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
  expectAtMost: () => undefined,
};

/**
 * A timer fires as soon as nothing else is left to do, and the clocks step to it: nothing idles, and times are exact. For what has
 * no sockets; turns of the event loop stay real.
 */
export class VirtualTime implements TestTime {
  #blocks: (() => void)[] = [];

  begin(): void {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'clearImmediate', 'queueMicrotask', 'nextTick'] });
    jest.setTimerTickMode({ mode: 'nextAsync' });
  }

  end(): void {
    try {
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      for (const undo of this.#blocks.splice(0).reverse()) undo();
      jest.useRealTimers();
    }
  }

  size(small: number, full: number): number {
    return sized(Math.min(full, 3 * small), full);
  }

  block(ms: number): void {
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + ms);
    this.#blocks.push(() => {
      clock.mockRestore();
    });
    jest.setSystemTime(Date.now() + ms);
  }

  timers(): number {
    return jest.getTimerCount();
  }

  expectAtMost(ms: number, startedAt: number): void {
    expect(performance.now() - startedAt).toBeLessThanOrEqual(ms);
  }
}
