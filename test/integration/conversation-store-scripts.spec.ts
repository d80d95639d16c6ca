import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { CONVERSATION_LIMITS } from '../../src/conversation/store/conversation.limits.js';
import { conversationKeys, ownerKeys } from '../../src/conversation/store/conversation.keys.js';
import { loadConversationScripts } from '../../src/conversation/store/conversation.scripts.js';
import {
  draft,
  end,
  KEEP_MS,
  PLACE,
  redisConversationBench,
  type RedisConversationBench,
  start,
  turn,
} from '../support/conversation-bench.js';
import { CLOCK_KEY } from '../support/clocked-redis.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;
const opened: RedisConversationBench[] = [];

beforeAll(async () => {
  server = await startRedisServer();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bench) => bench.close()));
});
afterAll(() => server.stop());

async function open(): Promise<RedisConversationBench> {
  const bench = await redisConversationBench(server, `s${(benches += 1)}:`);
  opened.push(bench);
  return bench;
}

const key = { hash: 'k', bodyHash: 'b', keepMs: 60_000 };

describe('the scripts of conversations', () => {
  it('judge by the numbers of conversation.limits.ts', () => {
    const limits: Readonly<Record<string, number>> = CONVERSATION_LIMITS;
    const found = new Set<string>();
    for (const folder of ['scripts', 'owner-scripts']) {
      const source = readFileSync(
        new URL(`../../src/conversation/store/${folder}/prelude.lua`, import.meta.url),
        'utf8',
      );
      for (const [, names = '', values = ''] of source.matchAll(/^local ([A-Z_, ]+) = ([\d, ]+)$/gm)) {
        const numbers = values.split(', ').map(Number);
        names.split(', ').forEach((constant, index) => {
          const limit = constant.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
          expect([limit, numbers[index]]).toEqual([limit, limits[limit]]);
          found.add(limit);
        });
      }
    }
    expect([...found].sort()).toEqual(['eventsMs', 'mostEvents', 'runMs', 'slackMs']);
  });

  it('compare the owner, every one of them, and change nothing of a foreign conversation', async () => {
    const bench = await open();
    await bench.store.create(PLACE, draft());
    await turn(bench.store, 't1', 1);
    await bench.store.startTurn(PLACE, start('t2', 2, { key }));
    const keys = conversationKeys(bench.redis.keyPrefix, PLACE);
    const [events, used] = [`${keys[0]}:e:t2`, `${keys[0]}:i:k`];
    await bench.store.addEvents(PLACE, 'turn_t2_3', 2, [{ name: 'delta', data: '1' }]);
    const dump = () => Promise.all([...keys, events, used].map((name) => bench.client.dumpBuffer(name)));
    const before = await dump();
    const scripts = loadConversationScripts({ clock: { key: CLOCK_KEY } });
    const words: Readonly<Record<keyof typeof scripts, readonly (string | number)[]>> = {
      ...{
        create: [0, 'title', 'x'],
        find: [],
        change: ['', '', 'title', 1, 'x'],
        remove: ['', '', 'p'],
        forget: ['t2', 3],
      },
      ...{
        clear: ['', '', 'p', 99],
        start: ['', '', 't3', 99, 'p', 'b', 9, '', 0, 'up0', 'c', '', 'up'],
        keyed: ['b'],
      },
      ...{
        tell: ['p', 't2', 3, 99, 'delta', '1'],
        end: ['p', 't2', 3, 99, 'c', '', 1, 'ap0', 'c', '', 'ap'],
        turn: ['t1', 1],
      },
      ...{ cancel: ['p', 't2', 3], events: ['t2', 3, 0, 9, 'p1'], page: [0, 9], cards: ['m'], count: ['o', 1, 5] },
    };
    const answers: Record<string, unknown> = {};
    for (const name of Object.keys(scripts) as (keyof typeof scripts)[]) {
      // Its turn is one that does not run: of one that does, whoever forgets has the name.
      if (name === 'forget') continue;
      const more = name === 'keyed' ? [used] : name === 'start' ? [used, events] : [events];
      const count = scripts[name].numberOfKeys;
      answers[name] = await bench.redis.run(scripts[name], [...keys, ...more].slice(0, count), [
        'foreign',
        ...words[name],
      ]);
    }
    expect(answers).toEqual({
      ...{ create: [-1], find: [0], change: [0], remove: [0], clear: [0], start: [0], keyed: [], tell: 0, end: [0] },
      ...{ turn: [], cancel: -1, events: [], page: [], cards: [], count: 0 },
    });
    expect(await dump()).toEqual(before);
  });

  it('let every key end with its conversation, events and keys of requests by themselves', async () => {
    const bench = await open();
    const names = new Map<string, number>();
    const note = async (): Promise<void> => {
      for (const name of await bench.client.keys(`${bench.redis.keyPrefix}*`)) {
        names.set(name, Math.max(names.get(name) ?? 0, await bench.client.pttl(name)));
      }
    };
    // Without the bench's clock in between, which makes lives endless.
    const run = bench.redis.run.bind(bench.redis);
    const lives: Record<string, number> = {};
    bench.redis.run = async (script, keys, args) => {
      const reply = await run(script, keys, args);
      bench.redis.lives.forEach((life, at) => {
        if (life > 0) lives[keys[at] ?? ''] = Math.ceil(life / 1_000);
      });
      return reply;
    };
    await bench.store.create(PLACE, draft());
    await bench.store.startTurn(PLACE, start('t1', 1, { key }));
    await bench.store.addEvents(PLACE, 'turn_t1_1', 1, [{ name: 'delta', data: '1' }]);
    const [conversation, log, cards, record] = conversationKeys(bench.redis.keyPrefix, PLACE);
    expect(lives).toMatchObject({
      [record]: KEEP_MS / 1_000 + 1,
      [`${conversation}:e:t1`]: 3_601,
      [`${conversation}:i:k`]: 61,
    });
    await bench.store.endTurn(PLACE, 'turn_t1_1', end(1));
    const [used, ends] = ownerKeys(bench.redis.keyPrefix, PLACE.owner);
    const whole = KEEP_MS / 1_000 + 1;
    expect(lives).toMatchObject({ [conversation]: whole, [log]: whole, [cards]: whole, [used]: whole, [ends]: whole });
    expect(lives).toMatchObject({ [`${conversation}:e:t1`]: 601 });
    await note();
    expect([...names.keys()].filter((name) => !(name in lives))).toEqual([]);
  });

  it('let an endless conversation and its place in the list stay', async () => {
    const bench = await open();
    await bench.store.create({ owner: 'o', id: 'short' }, draft({ keepMs: 1_000 }));
    await bench.store.create({ owner: 'o', id: 'long' }, draft({ keepMs: 0 }));
    expect(bench.redis.lives).toEqual([-1, -1]);
    bench.clock.us += 1_000_000;
    // What is over goes from the list when another conversation is used.
    await turn(bench.store, 't1', 1, { place: { owner: 'o', id: 'long' } });
    const [used] = ownerKeys(bench.redis.keyPrefix, 'o');
    expect(await bench.client.zrange(used, 0, -1)).toEqual(['long']);
  });

  it('leave nothing of a conversation that was removed but keys that end soon', async () => {
    const bench = await open();
    await bench.store.create(PLACE, draft());
    await bench.store.startTurn(PLACE, start('t1', 1));
    await bench.store.addEvents(PLACE, 'turn_t1_1', 1, [{ name: 'delta', data: '1' }]);
    await bench.store.remove(PLACE);
    expect(await bench.client.keys(`${bench.redis.keyPrefix}*`)).toEqual([]);
  });

  it('may be refused their messages by the server without harm', async () => {
    const bench = await open();
    await bench.store.create(PLACE, draft());
    await bench.client.call('ACL', 'SETUSER', 'quiet', 'on', '>secret', '~*', 'resetchannels', '+@all');
    await bench.client.call('AUTH', 'quiet', 'secret');
    await bench.store.startTurn(PLACE, start('t1', 1));
    await bench.store.events(PLACE, 'turn_t1_1', { afterId: 0, limit: 1, process: 'p1' });
    expect(await bench.store.cancelTurn(PLACE, 'turn_t1_1')).toBe('asked');
    expect(await bench.store.endTurn(PLACE, 'turn_t1_1', end(1))).toMatchObject({ kind: 'ended' });
    await bench.client.call('AUTH', 'default', '');
    expect(await bench.heard()).toEqual([]);
  });
});

describe("an owner's list", () => {
  it('is repaired when it is read: what is gone goes, what is old moves', async () => {
    const bench = await open();
    const [used] = ownerKeys(bench.redis.keyPrefix, 'o');
    for (const id of ['a', 'b', 'c']) {
      await bench.store.create({ owner: 'o', id }, draft());
      bench.clock.us += 1_000_000;
    }
    const scores = await bench.client.zrange(used, 0, -1, 'WITHSCORES');
    await turn(bench.store, 't1', 1, { place: { owner: 'o', id: 'a' } });
    // As if the process had died between the conversation and the list.
    await bench.client.zadd(used, scores[1] ?? '', 'a');
    await bench.client.del(...conversationKeys(bench.redis.keyPrefix, { owner: 'o', id: 'b' }));
    const seen = await bench.store.list('o', { after: undefined, limit: 2 });
    expect(seen).toMatchObject({ conversations: [{ id: 'c' }, { id: 'a' }], hasMore: false });
    expect(await bench.client.zrange(used, 0, -1)).toEqual(['c', 'a']);
  });
});
