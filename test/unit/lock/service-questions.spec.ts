import { describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { nodeEnvironment } from '../../../src/store/process/node.environment.js';
import { LockService, type LockState, LockStoreError, MemoryLockStore } from '../../../src/lock/index.js';
import { takeLock } from '../../../src/lock/decorator/busy.options.js';
import { UnreliableStore } from '../../support/unreliable-store.js';

const NEVER = new Promise<never>(() => undefined);

/** Answers no operator, and notes whether a list that nobody waits for is told so. */
class SilentStore extends MemoryLockStore {
  left: unknown;

  override inspect(): Promise<LockState | undefined> {
    return NEVER;
  }

  override list(_limit: number, signal?: AbortSignal): Promise<readonly LockState[]> {
    signal?.addEventListener('abort', () => {
      this.left = signal.reason;
    });
    return NEVER;
  }
}

describe('what operators ask of LockService', () => {
  it('names who holds a lock by its machine, and apart from all others there', async () => {
    const store = new MemoryLockStore();
    const [one, other] = [new LockService(store), new LockService(store)];
    const lease = await one.acquire('k');
    const process = (await other.inspect('k'))?.holders[0]?.process;
    expect(process).toBe(one.process);
    expect(process?.startsWith(`${hostname()}-`)).toBe(true);
    expect(other.process).not.toBe(process);
    await lease.release();
    await Promise.all([one.close(), other.close()]);
  });

  it('ends by a deadline of its own, and then is not worked on any more', async () => {
    const store = new SilentStore();
    const real = nodeEnvironment();
    const environment = { ...real, after: (ms: number, run: () => void) => real.after(ms / 100, run) };
    const locks = new LockService(store, { environment });
    await expect(locks.list()).rejects.toThrow('no answer within 8000 ms');
    expect(store.left).toBeInstanceOf(LockStoreError);
    await expect(locks.inspect('k')).rejects.toBeInstanceOf(LockStoreError);
    await locks.close();
  });

  it('ends when the locks are closed', async () => {
    const locks = new LockService(new SilentStore());
    const asked = [locks.inspect('k'), locks.list()].map((answer) => answer.catch((error: unknown) => error));
    await locks.close();
    for (const error of await Promise.all(asked)) expect(error).toBeInstanceOf(LockStoreError);
  });

  it('does not keep them from closing, nor does a subscription whose end nobody confirms', async () => {
    const store = new MemoryLockStore();
    store.unsubscribe = () => NEVER;
    const locks = new LockService(store);
    await locks.withLock('k', () => undefined);
    await locks.close();
    expect(await store.inspect('k')).toBeUndefined();
  });

  it('hides no fault of a store that is none of its state', async () => {
    const store = new MemoryLockStore();
    store.unsubscribe = () => Promise.reject(new TypeError('a mistake'));
    const locks = new LockService(store);
    await locks.withLock('k', () => undefined);
    await expect(locks.close()).rejects.toThrow('a mistake');
  });
});

describe('a lock that is taken', () => {
  it('is looked at for the caller who is told by whom, and for nobody else', async () => {
    const store = new UnreliableStore(new MemoryLockStore());
    const locks = new LockService(store);
    const lease = await locks.acquire('k', { description: 'mine' });
    expect(await locks.tryAcquire('k')).toBeUndefined();
    expect(await takeLock(locks, { keys: 'k', options: { onBusy: 'skip' } })).toBeUndefined();
    expect(store.inspections).toEqual([]);
    await expect(locks.acquire('k', { waitMs: 0 })).rejects.toMatchObject({ holder: { description: 'mine' } });
    await expect(takeLock(locks, { keys: 'k', options: { onBusy: 'fail' } })).rejects.toMatchObject({
      holder: { fence: lease.fence },
    });
    expect(store.inspections).toEqual([1, 1]);
    await lease.release();
    await locks.close();
  });
});
