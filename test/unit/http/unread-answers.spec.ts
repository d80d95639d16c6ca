import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { UnreadAnswers } from '../../../src/http/unread-answers.js';

/** A connection as far as it is looked at; with a handle, as Node has it, or without. */
class Connection extends EventEmitter {
  destroyed = false;
  wasReset = false;
  writableLength = 0;
  bytesWritten = 0;
  _handle: { bytesWritten: number; writeQueueSize: number } | undefined = { bytesWritten: 0, writeQueueSize: 0 };

  /** One write, which is over when all of it is taken. */
  write(bytes: number): void {
    this.bytesWritten += bytes;
    this.writableLength += bytes;
    if (this._handle === undefined) return;
    this._handle.bytesWritten += bytes;
    this._handle.writeQueueSize += bytes;
  }

  take(bytes: number): void {
    if (this._handle === undefined) this.writableLength -= bytes;
    else {
      this._handle.writeQueueSize -= bytes;
      if (this._handle.writeQueueSize === 0) this.writableLength = 0;
    }
  }

  resetAndDestroy(): void {
    this.wasReset = true;
    this.destroy();
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  get asSocket(): Socket {
    return this as unknown as Socket;
  }
}

const LIMITS = { stalledMs: 60_000, checkEveryMs: 5_000 };
const MEGABYTE = 1_048_576;

let unread: UnreadAnswers;
let client: Connection;
beforeEach(() => {
  jest.useFakeTimers();
  unread = new UnreadAnswers(LIMITS);
  client = new Connection();
  unread.watch(client.asSocket);
});
afterEach(() => {
  client.destroy();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

/** @returns after how long it was cut off, ms; undefined: it was not, within ten minutes */
function cutAfter(each: () => void = () => undefined): number | undefined {
  for (let ms = 0; ms < 600_000; ms += 1_000) {
    if (client.destroyed) return ms;
    each();
    jest.advanceTimersByTime(1_000);
  }
  return undefined;
}

describe('UnreadAnswers', () => {
  it('cuts off who takes nothing of an answer for a minute', () => {
    client.write(MEGABYTE);
    const after = cutAfter();
    expect(after).toBeGreaterThanOrEqual(60_000);
    expect(after).toBeLessThanOrEqual(70_000);
    // What the system has taken over for it is of no use to anybody.
    expect(client.wasReset).toBe(true);
  });

  it('does so whatever is written meanwhile', () => {
    const after = cutAfter(() => {
      client.write(100);
    });
    expect(after).toBeLessThanOrEqual(70_000);
  });

  it('does so where now and then a byte is taken', () => {
    client.write(MEGABYTE);
    const after = cutAfter(() => {
      client.take(1);
    });
    expect(after).toBeLessThanOrEqual(70_000);
  });

  it('lets be who has nothing to take, and who takes what there is', () => {
    expect(cutAfter()).toBeUndefined();
    let second = 0;
    expect(
      cutAfter(() => {
        second += 1;
        if (second % 50 === 1) client.write(200);
        if (second % 50 === 0) client.take(200);
      }),
    ).toBeUndefined();
  });

  it.each(['with', 'without'])('lets be who takes a large answer slowly, %s a handle that tells', (handle) => {
    if (handle === 'without') client._handle = undefined;
    client.write(10 * MEGABYTE);
    expect(
      cutAfter(() => {
        client.take(1_500);
      }),
    ).toBeUndefined();
    expect(client.writableLength).toBeGreaterThan(0);
  });

  it('judges each connection by itself, and keeps its timer as long as there is one', () => {
    const other = new Connection();
    unread.watch(other.asSocket);
    client.write(MEGABYTE);
    expect(cutAfter()).toBeDefined();
    expect(other.destroyed).toBe(false);
    expect(jest.getTimerCount()).toBe(1);
    other.destroy();
  });
});
