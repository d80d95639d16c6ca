import { afterAll, beforeAll } from '@jest/globals';
import { describeLocks, describeLocksWithin } from '../contract/lock.contract.js';
import type { RedisGround } from '../support/lock-grounds.js';
import { passingClient, startStandalone } from '../support/redis-kinds.js';

let ground: RedisGround;

beforeAll(async () => {
  ground = passingClient(await startStandalone(), 'x:');
}, 120_000);
afterAll(() => ground.stop());

describeLocks('a client with a key prefix that was passed in', () => ground);

describeLocksWithin('a client with a key prefix that was passed in', () => ground);
