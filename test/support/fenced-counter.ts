import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type { RedisServer } from './redis-server.js';

const [CLAIM, WRITE] = ['claim', 'write'].map((name) =>
  readFileSync(new URL(`./fenced-counter/${name}.lua`, import.meta.url), 'utf8'),
);

/** Numbers that check fences, on a Redis of their own; lock-process.mjs writes the same ones. */
export class FencedCounters {
  readonly #redis: Redis;

  constructor({ host, port }: RedisServer) {
    this.#redis = new Redis({ host, port });
  }

  /** Reads a number for a writer; from then on older fences are refused. @returns undefined: a newer one was here */
  async claim(key: string, fence: number): Promise<number | undefined> {
    const answer = Number(await this.#redis.eval(CLAIM ?? '', 1, `n:${key}`, fence));
    return answer === -1 ? undefined : answer;
  }

  /** @returns whether the fence was not too old */
  async write(key: string, fence: number, number: number): Promise<boolean> {
    return (await this.#redis.eval(WRITE ?? '', 2, `n:${key}`, `writes:${key}`, fence, number)) === 1;
  }

  async read(key: string): Promise<number> {
    return Number((await this.#redis.hget(`n:${key}`, 'n')) ?? 0);
  }

  /** The fences of all writes, in their order. */
  async writes(key: string): Promise<readonly number[]> {
    return (await this.#redis.lrange(`writes:${key}`, 0, -1)).map(Number);
  }

  /** Updates that were lost, and writes whose fence is not above the one before. */
  async findings(keys: readonly string[]): Promise<readonly string[]> {
    const findings: string[] = [];
    for (const key of keys) {
      const [number, writes] = [await this.read(key), await this.writes(key)];
      if (number !== writes.length) findings.push(`"${key}" is ${number} after ${writes.length} writes`);
      const fall = writes.findIndex((fence, index) => index > 0 && fence <= (writes[index - 1] ?? 0));
      if (fall >= 0) findings.push(`write ${fall} of "${key}" has a fence that is not above the one before`);
    }
    return findings;
  }

  close(): void {
    this.#redis.disconnect();
  }
}
