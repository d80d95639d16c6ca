import { afterAll, beforeAll } from '@jest/globals';
import { describeAnswerStore } from '../contract/reuse-store.contract.js';
import { memoryAnswerBench, redisAnswerBench } from '../support/answer-bench.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

describeAnswerStore('MemoryAnswerStore', () => memoryAnswerBench());
describeAnswerStore('RedisAnswerStore', () => redisAnswerBench(server, `t${(benches += 1)}:`));
