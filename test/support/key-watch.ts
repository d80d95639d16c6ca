import type { LockService } from '../../src/lock/index.js';
import { eventually } from './eventually.js';

/** A look at the keys of one process, from beside. */
export class KeyWatch {
  constructor(private readonly locks: () => LockService) {}

  /** Whether somebody has it now. */
  async isHeld(key: string): Promise<boolean> {
    return ((await this.locks().inspect(key))?.holders.length ?? 0) > 0;
  }

  untilHeld(key: string): Promise<void> {
    return eventually(() => this.isHeld(key));
  }

  untilFree(key: string): Promise<void> {
    return eventually(async () => !(await this.isHeld(key)));
  }

  untilWaiting(key: string, count: number): Promise<void> {
    return eventually(async () => (await this.locks().inspect(key))?.waiters.length === count);
  }

  /** Works while somebody else has it. */
  async whileBusy<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const lease = await this.locks().acquire(key);
    try {
      return await work();
    } finally {
      await lease.release();
    }
  }
}
