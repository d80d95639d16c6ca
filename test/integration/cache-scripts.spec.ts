import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ANSWER_LIMITS as LIMITS } from '../../src/ai/reuse/store/answer.store.js';
import { redisAnswerBench, type RedisAnswerBench } from '../support/answer-bench.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;
const opened: RedisAnswerBench[] = [];

beforeAll(async () => {
  server = await startRedisServer();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bench) => bench.close()));
});
afterAll(() => server.stop());

async function start(): Promise<RedisAnswerBench> {
  const bench = await redisAnswerBench(server, `s${(benches += 1)}:`);
  opened.push(bench);
  return bench;
}

const place = { shelf: 'c3', flight: 'f', token: 't1' };
const command = { ...place, answers: ['a'], purpose: '', process: 'p1' };
const keep = { answer: 'a', forMs: 5_000, shelfBytes: 10_000 };

describe('the scripts of kept answers', () => {
  it('judge by the numbers of answer.store.ts', () => {
    const folder = new URL('../../src/ai/reuse/store/scripts/', import.meta.url);
    const found: Record<string, number> = {};
    for (const file of readdirSync(folder)) {
      const source = readFileSync(new URL(file, folder), 'utf8');
      for (const [, names = '', values = ''] of source.matchAll(/^local ([A-Z_, ]+) = ([\d, ]+)$/gm)) {
        const numbers = values.split(', ').map(Number);
        names.split(', ').forEach((constant, index) => {
          const name = constant.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
          found[name] = numbers[index] ?? Number.NaN;
        });
      }
    }
    expect(found).toEqual({ ...LIMITS, slackMs: 1_000 });
  });

  it('keep all of a shelf in one slot, and every key ends by itself', async () => {
    const { store, redis, client } = await start();
    await store.enter(command);
    expect(redis.lives).toEqual([-2, -2, LIMITS.leaseMs + 1_000]);
    await store.enter({ ...command, token: 't2', process: 'p2' });
    await store.beat({ shelf: 'c3', flights: [place] });
    expect(redis.lives).toEqual([LIMITS.leaseMs + 1_000]);
    await store.finish({ ...place, purpose: '', text: 'text', keep });
    expect(redis.lives).toEqual([6_000, 6_000, -2, LIMITS.tellMs + 1_000]);
    const tag = `${redis.keyPrefix}an:{c3}:1:`;
    expect((await client.keys(`${redis.keyPrefix}*`)).sort()).toEqual([`${tag}answers`, `${tag}ends`, `${tag}told:t1`]);
  });

  it('end a shelf with the last of its answers', async () => {
    const { store, redis } = await start();
    await store.finish({ ...place, purpose: '', text: 'long', keep: { ...keep, forMs: 50_000 } });
    await store.finish({ ...place, purpose: '', text: 'short', keep: { ...keep, answer: 'b' } });
    // The second write may come a few milliseconds after the first.
    for (const life of redis.lives.slice(0, 2)) {
      expect(life).toBeGreaterThan(50_000);
      expect(life).toBeLessThanOrEqual(51_000);
    }
  });

  it('begin a shelf anew of which somebody has deleted a part', async () => {
    const { store, redis, client } = await start();
    for (const part of ['answers', 'ends']) {
      await store.finish({ ...place, purpose: '', text: 'old', keep: { ...keep, answer: 'b' } });
      await client.del(`${redis.keyPrefix}an:{c3}:1:${part}`);
      expect(await store.enter({ ...command, token: '' })).toEqual({ kind: 'nothing' });
      await store.finish({ ...place, purpose: '', text: 'new', keep });
      expect(await store.enter({ ...command, token: '' })).toEqual({ kind: 'kept', text: 'new' });
      expect(await client.hget(`${redis.keyPrefix}an:{c3}:1:answers`, '#')).toBe(String(4 + LIMITS.overheadBytes));
      await client.flushall();
    }
  });

  it('may be refused their messages by the server without harm', async () => {
    const bench = await start();
    const { store, client } = bench;
    await store.enter(command);
    await store.enter({ ...command, token: 't2', process: 'p2' });
    await client.call('ACL', 'SETUSER', 'quiet', 'on', '>secret', '~*', 'resetchannels', '+@all');
    await client.call('AUTH', 'quiet', 'secret');
    await store.finish({ ...place, purpose: '', text: 'text' });
    await client.call('AUTH', 'default', '');
    expect(await bench.heard()).toEqual([]);
    expect(await store.look({ ...place, process: 'p2' })).toEqual({ kind: 'over', text: 'text' });
  });

  it('of one prefix are nothing to another', async () => {
    const [one, other] = [await start(), await start()];
    await one.store.finish({ ...place, purpose: '', text: 'text', keep });
    expect(await other.store.enter(command)).toEqual({ kind: 'leads' });
    expect(await one.store.enter(command)).toMatchObject({ kind: 'kept' });
  });
});
