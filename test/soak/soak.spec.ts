import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type OpenConfig, writeOpenConfig } from '../support/config-file.js';
import { recordFigures } from '../support/figures.js';
import { counted, type HeapReading, PROBED, readHeap } from '../support/heap-reading.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { soak, SOAK_MODELS, SOAK_SCRIPTS } from '../support/soak-traffic.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(180_000, 3_600_000));

const REQUESTS = sized(2_000, 20_000);
/** Code is compiled, pools and buffers grow to their size. */
const WARM_UP = 1_500;
const MAX_GROWTH = 0.05;
/** For sockets to close on both sides. */
const SETTLE_MS = 10_000;

describe('a soak', () => {
  let upstream: TestSimulator;
  let config: OpenConfig;
  let redis: RedisServer;
  let server: SpawnedServer;

  beforeAll(async () => {
    upstream = await startTestSimulator();
    await upstream.script(...SOAK_SCRIPTS);
    config = await writeOpenConfig(upstream.url, SOAK_MODELS);
    // Where it keeps its ledger itself, that grows to its ten thousand calls.
    redis = await startRedisServer();
    const environment = { ...config.environment, REDIS_URL: `redis://${redis.host}:${String(redis.port)}` };
    server = await spawnServer({ environment, nodeOptions: PROBED });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
    await redis.stop();
    await config.remove();
  });

  it(`of ${String(REQUESTS)} requests leaves the heap flat, no socket and no timer`, async () => {
    const idle = await readHeap(server);
    await soak(server.url, WARM_UP);
    const before = await readHeap(server);
    const startedAt = performance.now();
    const { counts, surprises } = await soak(server.url, REQUESTS);
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = await readHeap(server);
    await upstream.statsWhen(({ inFlight }) => inFlight === 0);
    await upstream.close();
    const left = await settled(server, idle);

    const growth = after.heapUsed / before.heapUsed - 1;
    recordFigures('soak', {
      requests: REQUESTS,
      seconds: Math.round(seconds),
      ...counts,
      heapMbBefore: megabytes(before.heapUsed),
      heapMbAfter: megabytes(after.heapUsed),
      heapGrowthPercent: Math.round(growth * 1_000) / 10,
      rssMbBefore: megabytes(before.rss),
      rssMbAfter: megabytes(after.rss),
    });
    expect(surprises).toEqual([]);
    expect(counts['left']).toBe(REQUESTS / 10);
    expect((counts['refused'] ?? 0) + (counts['broken'] ?? 0)).toBe(REQUESTS / 10);
    expect((counts['answered'] ?? 0) + (counts['streamed'] ?? 0)).toBe((REQUESTS / 10) * 8);
    expect(growth).toBeLessThan(MAX_GROWTH);
    expect(left).toEqual(counted(idle.resources));
  });
});

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e5) / 10;
}

/** What the process holds once it holds no more than when it was idle, or when it has had its time. */
async function settled(server: SpawnedServer, idle: HeapReading): Promise<Record<string, number>> {
  const end = performance.now() + SETTLE_MS;
  const wished = JSON.stringify([...idle.resources].sort());
  for (;;) {
    const { resources } = await readHeap(server);
    if (JSON.stringify([...resources].sort()) === wished || performance.now() > end) return counted(resources);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
