import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, StreamableFile } from '@nestjs/common';
import { getEventListeners, once } from 'node:events';
import { Readable } from 'node:stream';
import { setTimeout as pass } from 'node:timers/promises';
import { currentLease, WithLock } from '../../../../src/lock/index.js';
import { eventually } from '../../../support/eventually.js';
import type { KeyWatch } from '../../../support/key-watch.js';
import { type LockContext, startLockContext } from '../../../support/lock-context.js';

@Injectable()
class Files {
  signal: AbortSignal | undefined;

  @WithLock('file')
  async file(): Promise<Readable> {
    this.signal = currentLease()?.signal;
    return Promise.resolve(Readable.from(['a', 'b']));
  }

  @WithLock('web')
  async web(): Promise<ReadableStream<string>> {
    return Promise.resolve(
      new ReadableStream({
        start: (controller) => {
          controller.enqueue('a');
        },
      }),
    );
  }

  @WithLock('open', { leaseMs: 60_000 })
  async open(): Promise<Readable> {
    return Promise.resolve(new Readable({ read: () => undefined }));
  }

  @WithLock('short', { leaseMs: 150 })
  async short(): Promise<Readable> {
    return Promise.resolve(new Readable({ read: () => undefined }));
  }

  @WithLock('failing')
  async failing(): Promise<StreamableFile> {
    return Promise.resolve(new StreamableFile(new Readable({ read: () => undefined })));
  }
}

let context: LockContext<Files>;
let keys: KeyWatch;
let files: Files;

beforeEach(async () => {
  context = await startLockContext(Files);
  keys = context.keys;
  files = context.service;
});
afterEach(() => context.app.close());

describe('@WithLock() on a promised file', () => {
  it('holds until a promised Node stream is closed', async () => {
    const file = await files.file();
    expect(await keys.isHeld('file')).toBe(true);
    file.resume();
    await once(file, 'close');
    await keys.untilFree('file');
  });

  it('holds until a promised web stream is cancelled', async () => {
    const reader = (await files.web()).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 'a' });
    expect(await keys.isHeld('web')).toBe(true);
    await reader.cancel();
    expect(await keys.isHeld('web')).toBe(false);
  });

  it.each(['read', 'unread'] as const)('ends a Node stream whose lock is lost, with the loss: %s', async (how) => {
    const stream = await files.open();
    const errors: unknown[] = [];
    if (how === 'read') stream.on('error', (error) => errors.push(error)).resume();
    expect(await context.locks.forceRelease('open')).toBe(1);
    await eventually(() => stream.closed);
    expect(stream.errored).toMatchObject({ code: 'lock_lost', reason: 'revoked' });
    if (how === 'read') await eventually(() => errors.includes(stream.errored));
    await expect(stream.toArray()).rejects.toMatchObject({ code: 'lock_lost', reason: 'revoked' });
  });

  it('listens to no loss any more once the file is closed', async () => {
    const file = await files.file();
    const { signal } = files;
    expect(signal === undefined ? [] : getEventListeners(signal, 'abort')).toHaveLength(1);
    file.resume();
    await once(file, 'close');
    await keys.untilFree('file');
    expect(signal === undefined ? [signal] : getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('gives the lock back of a Node stream that nobody begins to read within a lease', async () => {
    const stream = await files.short();
    await keys.untilFree('short');
    await expect(stream.toArray()).rejects.toMatchObject({ code: 'lock_lost', key: 'short' });
  });

  it.each(['data', 'readable'])('holds for a reader that waits for its first word: on %s', async (event) => {
    const stream = await files.short();
    stream.on(event, () => undefined);
    await pass(500);
    expect(stream.destroyed).toBe(false);
    expect(await keys.isHeld('short')).toBe(true);
    stream.destroy();
    await keys.untilFree('short');
  });

  it('frees the lock when the file breaks off', async () => {
    const file = (await files.failing()).getStream();
    expect(await keys.isHeld('failing')).toBe(true);
    file.on('error', () => undefined);
    file.destroy(new Error('disk'));
    await keys.untilFree('failing');
  });
});
