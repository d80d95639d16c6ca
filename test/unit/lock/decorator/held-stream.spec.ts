import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, StreamableFile } from '@nestjs/common';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { WithLock } from '../../../../src/lock/index.js';
import { eventually } from '../../../support/eventually.js';
import { type LockContext, startLockContext } from '../../../support/lock-context.js';

@Injectable()
class Files {
  @WithLock('file')
  async file(): Promise<Readable> {
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

  @WithLock('failing')
  async failing(): Promise<StreamableFile> {
    return Promise.resolve(new StreamableFile(new Readable({ read: () => undefined })));
  }
}

let context: LockContext<Files>;
let files: Files;
const isHeld = (key: string): Promise<boolean> => context.isHeld(key);
const untilFree = (key: string): Promise<void> => eventually(async () => !(await isHeld(key)));

beforeEach(async () => {
  context = await startLockContext(Files);
  files = context.service;
});
afterEach(() => context.app.close());

describe('@WithLock() on a promised file', () => {
  it('holds until a promised Node stream is closed', async () => {
    const file = await files.file();
    expect(await isHeld('file')).toBe(true);
    file.resume();
    await once(file, 'close');
    await untilFree('file');
  });

  it('holds until a promised web stream is cancelled', async () => {
    const reader = (await files.web()).getReader();
    expect(await reader.read()).toEqual({ done: false, value: 'a' });
    expect(await isHeld('web')).toBe(true);
    await reader.cancel();
    expect(await isHeld('web')).toBe(false);
  });

  it('frees the lock when the file breaks off', async () => {
    const file = (await files.failing()).getStream();
    expect(await isHeld('failing')).toBe(true);
    file.on('error', () => undefined);
    file.destroy(new Error('disk'));
    await untilFree('failing');
  });
});
