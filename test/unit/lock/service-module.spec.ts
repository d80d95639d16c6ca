import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { LockModule, LockService, MemoryLockStore } from '../../../src/lock/index.js';

describe('LockModule', () => {
  it('provides locks everywhere, and lets go of all of them when the application closes', async () => {
    const lockStore = new MemoryLockStore();

    @Module({ imports: [LockModule.forRootAsync({ useFactory: () => ({ lockStore, graceMs: 0 }) })] })
    class Application {}

    const application = await NestFactory.createApplicationContext(Application, { logger: false });
    const held = await application.get(LockService).acquire('k');
    held.signal.addEventListener('abort', () => void held.release());
    expect((await lockStore.list(10)).map(({ key }) => key)).toEqual(['k']);
    await application.close();
    expect(await lockStore.list(10)).toEqual([]);
    await expect(application.get(LockService).acquire('k')).rejects.toMatchObject({ code: 'draining' });
  });

  it('keeps locks in memory where no store is given', async () => {
    @Module({ imports: [LockModule.forRoot({ defaults: { waitMs: 0 } })] })
    class Application {}

    const application = await NestFactory.createApplicationContext(Application, { logger: false });
    const locks = application.get(LockService);
    await locks.withLock('k', {}, async () => {
      expect((await locks.inspect('k'))?.holders).toHaveLength(1);
    });
    await application.close();
  });
});
