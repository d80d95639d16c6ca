import { afterAll, beforeAll } from '@jest/globals';
import { describeFleetStore } from '../contract/fleet-store.contract.js';
import { memoryFleetBench, redisFleetBench } from '../support/fleet-bench.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

describeFleetStore('MemoryFleetStore', () => memoryFleetBench());
describeFleetStore('RedisFleetStore', () => redisFleetBench(server, `t${(benches += 1)}:`));
