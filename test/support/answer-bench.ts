import type { AnswerStore } from '../../src/ai/reuse/store/answer.store.js';
import { loadAnswerScripts } from '../../src/ai/reuse/store/answer.scripts.js';
import { MemoryAnswerStore } from '../../src/ai/reuse/store/memory-answer.store.js';
import { RedisAnswerStore } from '../../src/ai/reuse/store/redis-answer.store.js';
import { CLOCK_KEY, clockedRedis, type ClockedServer, settleInProcess, type TestClock } from './clocked-redis.js';
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

export type RedisAnswerBench = AnswerBench & ClockedServer;

const LISTENERS = ['p1', 'p2', 'p3'] as const;

export async function memoryAnswerBench(clock: TestClock = { us: START_MS * 1_000 }): Promise<AnswerBench> {
  const store = new MemoryAnswerStore(() => clock.us);
  const heard = await listen(store, settleInProcess);
  return { store, clock, heard, close: () => Promise.resolve() };
}

export async function redisAnswerBench(
  address: { readonly host: string; readonly port: number },
  prefix: string,
  clock: TestClock = { us: START_MS * 1_000 },
): Promise<RedisAnswerBench> {
  const server = clockedRedis(address, prefix, clock);
  const store = new RedisAnswerStore(server.redis, loadAnswerScripts({ clock: { key: CLOCK_KEY } }));
  const heard = await listen(store, () => server.redis.settle());
  return { ...server, store, clock, heard };
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
