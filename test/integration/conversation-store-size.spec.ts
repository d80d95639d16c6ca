import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Place, readLog } from '../../src/conversation/store/index.js';
import {
  draft,
  message,
  redisConversationBench,
  type RedisConversationBench,
  turn,
} from '../support/conversation-bench.js';
import { recordFigures } from '../support/figures.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const TIMEOUT_MS = sized(120_000, 600_000);

let server: RedisServer;
let bench: RedisConversationBench;

beforeAll(async () => {
  server = await startRedisServer();
});
beforeEach(async () => {
  bench = await redisConversationBench(server, 'z:');
});
afterEach(async () => {
  await bench.client.flushall();
  await bench.close();
});
afterAll(() => server.stop());

describe('a long conversation', () => {
  const LENGTHS = [100, sized(4_000, 20_000)] as const;

  /** In few turns, each of which leaves the head of the window where it is. */
  async function fill(place: Place, length: number): Promise<void> {
    await bench.store.create(place, draft());
    const replies = (count: number) =>
      Array.from({ length: count }, () =>
        message('assistant', 'x', { tokens: [{ encoding: 'o200k', tokens: 1, callTokens: 0 }] }),
      );
    for (let seq = 0; seq < length; seq += 100) {
      const [first, ...rest] = replies(99);
      if (first === undefined) throw new Error('no message');
      await turn(bench.store, `f${seq}`, 1, {
        place,
        end: { messages: [first, ...rest], head: { seq: length - 20, model: 'm' } },
      });
    }
  }

  it(
    'costs a turn as much as a short one: as many commands, as many messages read',
    async () => {
      const costs: unknown[] = [];
      for (const length of LENGTHS) {
        const place = { owner: 'o', id: `of ${length}` };
        await fill(place, length);
        await bench.client.config('RESETSTAT');
        const cards = await bench.store.cards(place, { encoding: 'o200k', model: 'm' });
        const page = await bench.store.messages(place, { afterSeq: length - 21, limit: 50 });
        await turn(bench.store, 'new', 2, { place, end: { head: 'as-before' } });
        const calls = (await bench.client.info('commandstats')).match(/^cmdstat_\w+:calls=\d+/gm) ?? [];
        const counted = calls.filter((line) => !/script|config|evalsha/.test(line)).sort();
        costs.push([counted, cards?.cards.length, page?.messages.length]);
      }
      expect(costs[1]).toEqual(costs[0]);
    },
    TIMEOUT_MS,
  );

  it(
    'is exported page by page, whole',
    async () => {
      const place = { owner: 'o', id: 'export' };
      const length = sized(2_000, 20_000);
      await fill(place, length);
      let [seq, pages] = [0, 0];
      for await (const messages of readLog(bench.store, place)) {
        for (const each of messages) expect(each.seq).toBe((seq += 1));
        expect(messages.length).toBeLessThanOrEqual(200);
        pages += 1;
      }
      expect([seq, pages]).toEqual([length, length / 200]);
    },
    TIMEOUT_MS,
  );
});

describe('the memory that a message takes', () => {
  /** A stream of separate fields was measured to take 0.84, 1.00 and 1.23 of the messages' JSON; and then there are the other keys. */
  const MOST = new Map([
    [120, 1.25],
    [600, 1.25],
    [4_000, 1.4],
  ]);

  it(
    'is about that of its JSON',
    async () => {
      const figures: Record<string, number> = {};
      for (const [length, most] of MOST) {
        const conversations = sized(3, 50);
        for (let number = 0; number < conversations; number += 1) await fillWith(number, length);
        const [bytes, json] = [await bytesInRedis(), await bytesOfJson()];
        figures[`bytesAt${length}`] = Math.round(bytes / (conversations * 40));
        figures[`ofJsonAt${length}`] = Math.round((100 * bytes) / (conversations * json)) / 100;
        expect(bytes).toBeGreaterThan(conversations * 40 * length);
        expect(bytes / (conversations * json)).toBeLessThan(most);
        await bench.client.flushall();
      }
      recordFigures('conversation-memory', figures);
    },
    TIMEOUT_MS,
  );

  /** All keys: the log, the list beside it, the conversation itself and its place in the owner's list. */
  async function bytesInRedis(): Promise<number> {
    let bytes = 0;
    for (const key of await bench.client.keys('z:*'))
      bytes += (await bench.client.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
    return bytes;
  }

  /** Of one conversation's messages, as they are shown. */
  async function bytesOfJson(): Promise<number> {
    const page = await bench.store.messages({ owner: 'o', id: 'c0' }, { afterSeq: 0, limit: 100 });
    return (page?.messages ?? []).reduce((sum, shown) => sum + JSON.stringify(shown).length, 0);
  }

  async function fillWith(number: number, length: number): Promise<void> {
    const place = { owner: 'o', id: `c${number}` };
    await bench.store.create(place, draft());
    const usage = '{"prompt_tokens":1200,"completion_tokens":150,"total_tokens":1350}';
    const tokens = [{ encoding: 'o200k', tokens: 150, callTokens: 0 } as const];
    const text = (role: 'user' | 'assistant') => message(role, `${number} `.padEnd(length, 'lorem ipsum '), { tokens });
    for (let at = 0; at < 20; at += 1) {
      const token = Buffer.from(`${number}-${at}`.padEnd(16, '-')).toString('base64url');
      await turn(bench.store, token, at + 1, {
        place,
        start: { messages: [text('user')] },
        end: { messages: [{ ...text('assistant'), model: 'gpt-4.1', finishReason: 'stop', usage }] },
      });
    }
    // They end after ten minutes.
    const events = await bench.client.keys('z:*:e:*');
    if (events.length > 0) await bench.client.del(...events);
  }
});
