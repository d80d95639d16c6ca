import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { batchEvents } from '../../../src/ai/batch/batch.events.js';
import type { BatchProgress, BatchResult } from '../../../src/ai/batch/batch.result.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

const progress = (completed: number): BatchProgress => ({ completed, total: 3, index: 3 - completed, success: true });

/** A batch that goes on as the test says. */
function scripted() {
  let tell: (progress: BatchProgress) => void = () => undefined;
  let finish: (result: BatchResult) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const events = batchEvents((finished) => {
    tell = finished;
    return new Promise((resolve, reject) => {
      finish = resolve;
      fail = reject;
    });
  });
  return {
    next: async () => (await events.next()).value as string | undefined,
    events,
    tell: (completed: number) => {
      tell(progress(completed));
    },
    finish: (...results: string[]) => {
      finish({ results, succeeded: results.length });
    },
    fail: (error: Error) => {
      fail(error);
    },
  };
}

const told = (completed: number): string => `event: progress\ndata: ${JSON.stringify(progress(completed))}\n\n`;

describe('batchEvents()', () => {
  it('tells of each item, and at the end of all in one event', async () => {
    const batch = scripted();
    const first = batch.next();
    batch.tell(1);
    expect(await first).toBe(told(1));
    batch.tell(2);
    batch.finish('{"a":\n1}', '{"b":\r\n2}');
    let rest = '';
    for await (const text of batch.events) rest += text;
    expect(rest).toBe(
      `${told(2)}event: done\ndata: {"object":"chat.completion.batch","total":2,"succeeded":2,"failed":0,"results":[{"a": 1},{"b":  2}]}\n\n`,
    );
  });

  it('keeps a silent connection alive', async () => {
    const batch = scripted();
    for (let beat = 0; beat < 3; beat += 1) {
      const next = batch.next();
      await jest.advanceTimersByTimeAsync(10_000);
      expect(await next).toBe(': keep-alive\n\n');
    }
    const next = batch.next();
    await jest.advanceTimersByTimeAsync(9_000);
    batch.tell(1);
    expect(await next).toBe(told(1));
    batch.finish();
    for await (const text of batch.events) expect(text).not.toContain('keep-alive');
  });

  it('gives a slow reader at once what has happened meanwhile', async () => {
    const batch = scripted();
    const first = batch.next();
    batch.tell(1);
    await first;
    batch.tell(2);
    batch.tell(3);
    expect(await batch.next()).toBe(told(2) + told(3));
    await batch.events.return(undefined);
  });

  it('ends with an error what nobody foresaw, and says no more of it', async () => {
    const batch = scripted();
    const last = batch.next();
    batch.fail(new TypeError('secret'));
    expect(await last).toMatch(/^event: error\ndata: {"error":{"message":"internal error",.*}\n\n$/);
    expect(await batch.next()).toBeUndefined();
  });

  it('is not begun before somebody reads it', async () => {
    const work = jest.fn(() => Promise.resolve({ results: [], succeeded: 0 }));
    const events = batchEvents(work);
    await events.return(undefined);
    expect(work).not.toHaveBeenCalled();
  });
});
