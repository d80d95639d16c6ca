import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { parseScript, RedisStore } from '../../src/store/index.js';
import { COUNT } from '../support/counter-script.js';
import { eventually } from '../support/eventually.js';
import type { RedisKind } from '../support/lock-grounds.js';
import { pass } from '../support/pass.js';
import { startCluster } from '../support/redis-kinds.js';
import { ask } from '../support/redis-sentinel.js';
import { SlotMover } from '../support/slot-mover.js';

/** Both keys are there before and after it, and the first is not in between. */
const RENEW = parseScript(
  'renew',
  `-- Puts a number in the place of another one, and notes that it was done.
-- KEYS[1] the number
-- KEYS[2] how often
-- ARGV[1] the next number
-- Returns how often.
local times = redis.call('INCR', KEYS[2])
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1])
return times`,
);
/** One that takes as many keys as it is given. */
const SUM = parseScript(
  'sum',
  `-- Adds to counters.
-- KEYS[1..] counters
-- Returns how many there were.
for index = 1, #KEYS do redis.call('INCR', KEYS[index]) end
return #KEYS`,
);

let redis: RedisKind;
let store: RedisStore;
let mover: SlotMover | undefined;

beforeAll(async () => {
  redis = await startCluster();
  store = new RedisStore(redis.options('t:'));
  await eventually(() => store.connected().then(() => true));
}, 60_000);
afterEach(() => {
  mover?.close();
  mover = undefined;
});
afterAll(async () => {
  await store.close();
  await redis.stop();
});

describe('RedisStore while a slot goes to another master', () => {
  it('runs a script whole or not at all, and not before the slot is there', async () => {
    const keys = ['t:{half}:number', 't:{half}:times'];
    expect(await store.run(RENEW, keys, [1])).toBe(1);
    const move = (mover = await SlotMover.start(redis, 't:{half}'));
    await move.open(move.slot);
    const running = store.run(RENEW, keys, [2]);
    await pass(100);
    await move.carry(move.slot, 1);
    await pass(100);
    await move.finish(move.slot);
    expect(await running).toBe(2);
    expect(await store.run(RENEW, keys, [3])).toBe(3);
  });

  it('gives up when the time of a command is over, and has done nothing', async () => {
    expect(await store.run(COUNT, ['t:{late}'], [1])).toBe(1);
    const move = (mover = await SlotMover.start(redis, 't:{late}'));
    await move.open(move.slot);
    await expect(store.run(COUNT, ['t:{late}'], [1])).rejects.toMatchObject({
      ...{ code: 'store_unavailable', isRetryable: true, mayHaveRun: false },
      message: expect.stringContaining('moves these keys'),
    });
    await move.finish(move.slot);
    expect(await store.run(COUNT, ['t:{late}'], [1])).toBe(2);
  });

  it('gives a script the keys that it was told, and no other', async () => {
    const names = ['t:{sum}:a', 't:{sum}:b', 't:{sum}:c'];
    expect(await store.run(SUM, names, [])).toBe(3);
    const found: string[] = [];
    for await (const some of store.scan('t:*{sum}*')) found.push(...some);
    expect(found.toSorted()).toEqual(names);
  });

  it('counts each call once, whatever the master', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `t:{count}:${String(index)}`);
    let isOver = false;
    let answered = 0;
    const load = keys.map(async (key) => {
      while (!isOver) {
        await store.run(COUNT, [key], [1]);
        answered += 1;
      }
    });
    for (let round = 0; round < 3; round += 1) {
      const move = await SlotMover.start(redis, 't:{count}');
      await move.open(move.slot);
      await move.finish(move.slot);
      move.close();
      await pass(50);
    }
    isOver = true;
    await Promise.all(load);
    const master = await redis.serverOf('t:{count}');
    const counts = await ask(master, (client) => Promise.all(keys.map((key) => client.get(key))));
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(answered);
  });
});
