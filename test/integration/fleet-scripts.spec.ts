import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { FLEET_LIMITS, RATIO_BOUNDS } from '../../src/ai/fleet/fleet.limits.js';
import { TOPIC_NAMES } from '../../src/ai/fleet/fleet.store.js';
import { latencyTopic } from '../../src/ai/fleet/topics/latency.topic.js';
import { parkingTopic } from '../../src/ai/fleet/topics/parking.topic.js';
import { ratioTopic } from '../../src/ai/fleet/topics/ratio.topic.js';
import { standingTopic } from '../../src/ai/fleet/topics/standing.topic.js';
import { usageTopic } from '../../src/ai/fleet/topics/usage.topic.js';
import { windowTopic } from '../../src/ai/fleet/topics/window.topic.js';
import { redisFleetBench, type RedisFleetBench, START_MS, tell } from '../support/fleet-bench.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;
const opened: RedisFleetBench[] = [];

beforeAll(async () => {
  server = await startRedisServer();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((bench) => bench.close()));
});
afterAll(() => server.stop());

async function start(): Promise<RedisFleetBench> {
  const bench = await redisFleetBench(server, `s${(benches += 1)}:`);
  opened.push(bench);
  return bench;
}

const failed = { kind: 'failed', tookMs: 0, retryAfterMs: 0, code: 'timeout' } as const;

describe('the scripts of the fleet', () => {
  it('judge by the numbers of fleet.limits.ts', () => {
    const limits: Readonly<Record<string, number>> = { ...FLEET_LIMITS, ...RATIO_BOUNDS, slackMs: 1_000 };
    const found = new Set<string>();
    for (const name of ['prelude', ...TOPIC_NAMES]) {
      const source = readFileSync(new URL(`../../src/ai/fleet/scripts/${name}.lua`, import.meta.url), 'utf8');
      for (const [, names = '', values = ''] of source.matchAll(/^local ([A-Z_, ]+) = ([\d, ]+)$/gm)) {
        const numbers = values.split(', ').map(Number);
        names.split(', ').forEach((constant, index) => {
          const limit = constant.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
          expect([limit, numbers[index]]).toEqual([limit, limits[limit]]);
          found.add(limit);
        });
      }
    }
    expect([...found].sort()).toEqual(Object.keys(limits).sort());
  });

  it('keep one key a cell, in one slot, and each ends by itself a second after its cell', async () => {
    const bench = await start();
    const keys = async (): Promise<string[]> => (await bench.client.keys(`${bench.redis.keyPrefix}*`)).sort();
    const lives: number[] = [];
    const note = (): number => lives.push(Math.ceil((bench.redis.lives[0] ?? 0) / 1_000));
    await tell(bench, standingTopic, 'p/0/{m}', [failed, failed, failed]);
    note();
    await tell(bench, parkingTopic, 'p/0', [{ reason: 'quota', forMs: 5_000 }]);
    note();
    await tell(bench, windowTopic, 'p/0/m', [{ unit: 'tokens', limit: 5, remaining: 1, resetInMs: 7_000 }]);
    note();
    await tell(bench, usageTopic, 'p/0', [{ kind: 'unreachable' }]);
    note();
    await tell(bench, latencyTopic, 'json/m', [{ ms: 5, tokens: 9, isCensored: false }]);
    note();
    await tell(bench, ratioTopic, 'm', [1_000_000]);
    note();
    expect(lives).toEqual([606, 66, 181, 86_401, 86_401, 604_801]);
    const tag = `${bench.redis.keyPrefix}fl:{fleet}:1:`;
    expect(await keys()).toEqual([
      `${tag}latency:json/m`,
      `${tag}parking:p/0`,
      `${tag}ratio:m`,
      `${tag}standing:p/0/%7bm%7d`,
      `${tag}usage:p/0`,
      `${tag}window:p/0/m`,
    ]);
  });

  it('keep the revision of an emptied cell for a minute, so that nobody takes the next one for it', async () => {
    const bench = await start();
    await tell(bench, standingTopic, 'd', [failed]);
    await tell(bench, standingTopic, 'd', [{ kind: 'succeeded', tookMs: 0 }]);
    expect(Math.ceil((bench.redis.lives[0] ?? 0) / 1_000)).toBe(61);
    await tell(bench, standingTopic, 'd', [failed]);
    const { cells } = await bench.store.exchange(standingTopic, 'p1', [
      { id: 'd', seen: START_MS * 1_000, changes: [] },
    ]);
    expect(cells).toMatchObject([{ revision: START_MS * 1_000 + 2, body: { strikes: [START_MS] } }]);
  });

  it('write nothing where nothing changes', async () => {
    const bench = await start();
    await tell(bench, standingTopic, 'd', [
      { kind: 'succeeded', tookMs: 0 },
      { kind: 'let-go', process: 'p1' },
    ]);
    await tell(bench, parkingTopic, 'k', [{ reason: 'refused', forMs: 0 }]);
    await tell(bench, usageTopic, 'k', [{ kind: 'spent', unit: 'usd', amount: 5 }]);
    await tell(bench, latencyTopic, 'm', []);
    expect(await bench.client.keys(`${bench.redis.keyPrefix}*`)).toEqual([]);
    expect(await bench.heard()).toEqual([]);
  });

  it('may be refused their messages by the server without harm', async () => {
    const bench = await start();
    await bench.client.call('ACL', 'SETUSER', 'quiet', 'on', '>secret', '~*', 'resetchannels', '+@all');
    await bench.client.call('AUTH', 'quiet', 'secret');
    expect(await tell(bench, standingTopic, 'd', [failed, failed, failed])).toMatchObject({ openings: 1 });
    await bench.client.call('AUTH', 'default', '');
    expect(await bench.heard()).toEqual([]);
  });

  it('of one prefix are nothing to another, nor are its messages', async () => {
    const [bench, other] = [await start(), await start()];
    await tell(bench, standingTopic, 'd', [failed, failed, failed]);
    expect(await tell(other, standingTopic, 'd', [])).toBeUndefined();
    expect(await other.heard()).toEqual([]);
  });
});

describe('the messages of the fleet', () => {
  it('are ignored where somebody else sent them', async () => {
    const bench = await start();
    const channel = `${bench.redis.keyPrefix}fl:{fleet}:1:news`;
    for (const text of ['', 'standing', 'standing|', 'weather|p1', 'standing|p1|x']) {
      await bench.client.publish(channel, text);
    }
    await bench.client.publish(channel, 'standing|p9');
    expect(await bench.heard()).toEqual([{ topic: 'standing', from: 'p9' }]);
  });
});
