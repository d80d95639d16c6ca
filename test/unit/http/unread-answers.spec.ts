import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { UnreadAnswers } from '../../../src/http/unread-answers.js';

/** A connection as far as it is looked at; with a handle, as Node has it, or without. */
class Connection {
  readonly socket = new Socket();
  wasReset = false;
  #ready = 0;
  #written = 0;
  #handle: { bytesWritten: number; writeQueueSize: number } | undefined = { bytesWritten: 0, writeQueueSize: 0 };

  constructor({ tells = true } = {}) {
    if (!tells) this.#handle = undefined;
    Object.defineProperties(this.socket, {
      writableLength: { get: () => this.#ready },
      bytesWritten: { get: () => this.#written },
      _handle: { get: () => this.#handle },
      destroyed: { get: () => this.wasReset },
      resetAndDestroy: { value: this.#reset },
    });
  }

  get isCut(): boolean {
    return this.socket.destroyed;
  }

  /** One write, which is over when all of it is taken. */
  write(bytes: number): void {
    this.#written += bytes;
    this.#ready += bytes;
    if (this.#handle === undefined) return;
    this.#handle.bytesWritten += bytes;
    this.#handle.writeQueueSize += bytes;
  }

  take(bytes: number): void {
    if (this.#handle === undefined) this.#ready -= bytes;
    else {
      this.#handle.writeQueueSize -= bytes;
      if (this.#handle.writeQueueSize === 0) this.#ready = 0;
    }
  }

  leave(): void {
    this.socket.emit('close', false);
  }

  readonly #reset = (): void => {
    this.wasReset = true;
    this.leave();
  };
}

const LIMITS = { stalledMs: 60_000, checkEveryMs: 5_000 };
const MEGABYTE = 1_048_576;

let unread: UnreadAnswers;
let client: Connection;
beforeEach(() => {
  jest.useFakeTimers();
  unread = new UnreadAnswers(LIMITS);
  client = connected();
});
afterEach(() => {
  client.leave();
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

function connected(options?: { tells: boolean }): Connection {
  const connection = new Connection(options);
  unread.watch(connection.socket);
  return connection;
}

/** @returns after how long it was cut off, ms; undefined: it was not, within ten minutes */
function cutAfter(each: () => void = () => undefined): number | undefined {
  for (let ms = 0; ms < 600_000; ms += 1_000) {
    if (client.isCut) return ms;
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
    if (handle === 'without') {
      client.leave();
      client = connected({ tells: false });
    }
    client.write(10 * MEGABYTE);
    expect(
      cutAfter(() => {
        client.take(1_500);
      }),
    ).toBeUndefined();
    expect(client.socket.writableLength).toBeGreaterThan(0);
  });

  it('judges each connection by itself, and keeps its timer as long as there is one', () => {
    const other = connected();
    client.write(MEGABYTE);
    expect(cutAfter()).toBeDefined();
    expect(other.isCut).toBe(false);
    expect(jest.getTimerCount()).toBe(1);
    other.leave();
  });
});
