import { afterAll, beforeAll } from '@jest/globals';
import { describeLocksUnderFaults } from '../contract/lock.contract.js';
import { RedisGround } from '../support/lock-grounds.js';
import { startStandalone } from '../support/redis-kinds.js';

let ground: RedisGround;

beforeAll(async () => {
  ground = new RedisGround(await startStandalone());
}, 120_000);
afterAll(() => ground.stop());

describeLocksUnderFaults('one Redis', () => ground);
