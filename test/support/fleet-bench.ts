import { loadFleetScripts } from '../../src/ai/fleet/fleet.scripts.js';
import type { CellRequest, Exchange, FleetNews, FleetStore, Topic } from '../../src/ai/fleet/fleet.store.js';
import { MemoryFleetStore } from '../../src/ai/fleet/memory-fleet.store.js';
import { RedisFleetStore } from '../../src/ai/fleet/redis-fleet.store.js';
import { CLOCK_KEY, clockedRedis, type ClockedServer, settleInProcess, type TestClock } from './clocked-redis.js';
import type { ClockedTopology } from './clocked-topology.js';

export const START_MS = 1_764_421_836_000;

/** A fleet store in the test's time. */
export interface FleetBench {
  readonly store: FleetStore;
  readonly clock: TestClock;
  /** What was published since the last call. */
  heard(): Promise<readonly FleetNews[]>;
  /** May be called again. */
  close(): Promise<void>;
}

export type RedisFleetBench = FleetBench & ClockedServer;

export async function memoryFleetBench(clock: TestClock = { us: START_MS * 1_000 }): Promise<FleetBench> {
  const store = new MemoryFleetStore(() => clock.us);
  const heard = await listen(store, settleInProcess);
  return { store, clock, heard, close: () => Promise.resolve() };
}

export async function redisFleetBench(
  address: { readonly host: string; readonly port: number },
  prefix: string,
  clock: TestClock = { us: START_MS * 1_000 },
): Promise<RedisFleetBench> {
  const server = clockedRedis(address, prefix, clock);
  const store = new RedisFleetStore(server.redis, loadFleetScripts({ clock: { key: CLOCK_KEY } }));
  const heard = await listen(store, () => server.redis.settle());
  return { ...server, store, clock, heard };
}

/** On Redis of any kind, over the store that production has. */
export async function fleetBenchOn(redis: ClockedTopology, keyPrefix: string): Promise<FleetBench> {
  const ground = await redis.ground(keyPrefix, START_MS * 1_000, loadFleetScripts);
  const store = new RedisFleetStore(ground.store);
  return { store, clock: ground.clock, heard: await listen(store, ground.settle), close: ground.close };
}

/** Whose cell, and when it happened; by default just now, at p1. */
export interface Subject {
  readonly id: string;
  readonly agoMs?: number;
  readonly from?: string;
}

/** Applies changes, and answers the body after them. */
export async function tell<Body, Change>(
  { store }: FleetBench,
  topic: Topic<Body, Change>,
  subject: string | Subject,
  changes: readonly Change[],
): Promise<Body | undefined> {
  const { id, agoMs = 0, from = 'p1' } = typeof subject === 'string' ? { id: subject } : subject;
  const request: CellRequest<Change> = { id, seen: 0, changes: changes.map((change) => ({ change, agoMs })) };
  const answer: Exchange<Body> = await store.exchange(topic, from, [request]);
  return answer.cells[0]?.body;
}

async function listen(store: FleetStore, settle: () => Promise<void>): Promise<FleetBench['heard']> {
  const news: FleetNews[] = [];
  await store.subscribe(
    (message) => news.push(message),
    () => undefined,
  );
  return async () => {
    await settle();
    return news.splice(0);
  };
}
