import { Redis } from 'ioredis';
import type { AnswerStore } from '../../src/ai/reuse/store/answer.store.js';
import { loadAnswerScripts } from '../../src/ai/reuse/store/answer.scripts.js';
import { MemoryAnswerStore } from '../../src/ai/reuse/store/memory-answer.store.js';
import { RedisAnswerStore } from '../../src/ai/reuse/store/redis-answer.store.js';
import { CLOCK_KEY, ClockedRedis, type TestClock } from './clocked-redis.js';
import type { ClockedTopology } from './clocked-topology.js';

export const START_MS = 1_764_421_836_000;

/** A store of answers in the test's time. */
export interface AnswerBench {
  readonly store: AnswerStore;
  readonly clock: TestClock;
  /** Process and token of each message since the last call; only of those that listen: p1, p2 and p3. */
  heard(): Promise<readonly string[]>;
  /** May be called again. */
  close(): Promise<void>;
}

export interface RedisAnswerBench extends AnswerBench {
  readonly redis: ClockedRedis;
  readonly client: Redis;
}

const LISTENERS = ['p1', 'p2', 'p3'] as const;

export async function memoryAnswerBench(clock: TestClock = { us: START_MS * 1_000 }): Promise<AnswerBench> {
  const store = new MemoryAnswerStore(() => clock.us);
  const heard = await listen(store, () => new Promise((resolve) => setImmediate(resolve)));
  return { store, clock, heard, close: () => Promise.resolve() };
}

export async function redisAnswerBench(
  server: { readonly host: string; readonly port: number },
  prefix: string,
  clock: TestClock = { us: START_MS * 1_000 },
): Promise<RedisAnswerBench> {
  const client = new Redis(server.port, server.host);
  const subscriber = new Redis(server.port, server.host);
  const redis = new ClockedRedis(prefix, clock, client, subscriber);
  const store = new RedisAnswerStore(redis, loadAnswerScripts({ clock: { key: CLOCK_KEY } }));
  const heard = await listen(store, () => redis.settle());
  const close = (): Promise<void> => {
    client.disconnect();
    subscriber.disconnect();
    return Promise.resolve();
  };
  return { store, clock, redis, client, heard, close };
}

/** On Redis of any kind, over the store that production has. */
export async function answerBenchOn(redis: ClockedTopology, keyPrefix: string): Promise<AnswerBench> {
  const ground = await redis.ground(keyPrefix, START_MS * 1_000, loadAnswerScripts);
  const store = new RedisAnswerStore(ground.store);
  return { store, clock: ground.clock, heard: await listen(store, ground.settle), close: ground.close };
}

async function listen(store: AnswerStore, settle: () => Promise<void>): Promise<AnswerBench['heard']> {
  const told: string[] = [];
  for (const process of LISTENERS) {
    await store.subscribe(
      process,
      (token) => told.push(`${process} ${token}`),
      () => undefined,
    );
  }
  return async () => {
    await settle();
    return told.splice(0).sort();
  };
}
