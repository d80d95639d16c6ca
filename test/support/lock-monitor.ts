import { Redis } from 'ioredis';
import type { RedisServer } from './redis-server.js';

/** A place in a queue, as Redis gave it. */
export interface Place {
  readonly token: string;
  readonly ticket: number;
}

/** Looks at what a server executes (MONITOR), so that the order of a queue is known without asking the lock. */
export class LockMonitor {
  /** In the order of execution. */
  readonly places: Place[] = [];

  private constructor(
    private readonly redis: Redis,
    private readonly monitor: Redis,
    queue: string,
  ) {
    monitor.on('monitor', (_time: string, words: readonly string[], source: string) => {
      const [name = '', key, score, member] = words;
      if (source !== 'lua' || name.toLowerCase() !== 'zadd' || key !== queue || member === undefined) return;
      this.places.push({ token: member, ticket: Number(score) });
    });
  }

  /** @param queue the whole name of the waiters' key of the lock */
  static async start({ host, port }: RedisServer, queue: string): Promise<LockMonitor> {
    const redis = new Redis({ host, port });
    return new LockMonitor(redis, await redis.monitor(), queue);
  }

  close(): void {
    this.monitor.disconnect();
    this.redis.disconnect();
  }
}
