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
  /** Acquires and leaves that were sent more than once, since no answer came in time. */
  repeats = 0;
  readonly #sent = new Set<string>();

  private constructor(
    private readonly redis: Redis,
    private readonly monitor: Redis,
    queue: string,
  ) {
    monitor.on('monitor', (_time: string, words: readonly string[], source: string) => {
      const [name = '', key, score, member] = words;
      if (source !== 'lua') this.#countRepeat(words);
      else if (name.toLowerCase() === 'zadd' && key === queue && member !== undefined) {
        this.places.push({ token: member, ticket: Number(score) });
      }
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

  /** acquire and leave are the scripts with five keys; the token is their second argument. */
  #countRepeat(words: readonly string[]): void {
    const [name = '', script = '', keys, , , , , , , token] = words;
    if (!name.toLowerCase().startsWith('eval') || keys !== '5' || token === undefined) return;
    const call = `${script} ${token}`;
    if (this.#sent.has(call)) this.repeats += 1;
    this.#sent.add(call);
  }
}
