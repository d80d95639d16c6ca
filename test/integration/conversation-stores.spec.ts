import { afterAll, beforeAll } from '@jest/globals';
import { describeConversationStore } from '../contract/conversation-store.contract.js';
import { memoryConversationBench, redisConversationBench } from '../support/conversation-bench.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

describeConversationStore('MemoryConversationStore', () => memoryConversationBench());
describeConversationStore('RedisConversationStore', () => redisConversationBench(server, `t${(benches += 1)}:`));
