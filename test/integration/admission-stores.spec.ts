import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { scopeKeys } from '../../src/admission/admission.keys.js';
import { ADMISSION_LIMITS } from '../../src/admission/admission.limits.js';
import { CALENDAR_BUCKETS } from '../../src/admission/admission.rules.js';
import { loadAdmissionScripts } from '../../src/admission/admission.scripts.js';
import { RedisAdmissionStore } from '../../src/admission/redis-admission.store.js';
import { RedisStore } from '../../src/store/index.js';
import { describeAdmissionStore } from '../contract/admission-store.contract.js';
import { redisBench, type RedisAdmissionBench, scopeOf, ScopeDriver } from '../support/admission-bench.js';
import { overshoots } from '../support/admission-judge.js';
import { AdmissionWorld } from '../support/admission-world.js';
import { sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let benches = 0;
const opened: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

/** On an empty server, under a prefix of its own. */
async function start(): Promise<RedisAdmissionBench> {
  benches += 1;
  const bench = await redisBench(server, `t${benches}[*]|:`);
  opened.push(bench);
  await bench.client.flushall();
  return bench;
}

describeAdmissionStore('RedisAdmissionStore', start);

describe('the scripts of admission', () => {
  it('have a header that is what they do', () => {
    const scripts = Object.values(loadAdmissionScripts());
    expect(scripts.map(({ numberOfKeys, takesMoreKeys }) => [numberOfKeys, takesMoreKeys])).toEqual(
      scripts.map(() => [9, true]),
    );
  });

  it('go by the numbers of ADMISSION_LIMITS', () => {
    const prelude = readFileSync(new URL('../../src/admission/scripts/prelude.lua', import.meta.url), 'utf8');
    const numbers = new Map<string, number>();
    for (const [, names = '', values = ''] of prelude.matchAll(/^local ([A-Z_, ]+) = ([\d, ]+)$/gm)) {
      const list = values.split(', ').map(Number);
      names.split(', ').forEach((name, index) => numbers.set(name, list[index] ?? Number.NaN));
    }
    const { ring, group, groups, rounds, crowd, backlog, sparse, ...times } = ADMISSION_LIMITS;
    expect(Object.fromEntries(numbers)).toEqual({
      ...{ RING: ring, GROUP: group, GROUPS: groups, ROUNDS: rounds, CROWD: crowd, BACKLOG: backlog, SPARSE: sparse },
      ...{ PUMPER_MS: times.pumperMs, TOMBSTONE_MS: times.tombstoneMs, ERA_MS: times.eraMs },
      ...{ SLACK_MS: times.slackMs, BUDGET_MS: times.budgetMs, GUESS_MS: times.guessMs },
    });
    // The ring holds the future, the group of buckets that is half over, and the one that is half begun.
    expect(group * groups).toBe(ring);
    expect(CALENDAR_BUCKETS + 2 * group).toBeLessThanOrEqual(ring);
  });

  it('go through where messages may not be sent: a beat finds the grant', async () => {
    const bench = await start();
    const driver = new ScopeDriver(bench, scopeOf({ concurrency: 1 }));
    await driver.acquire('p1-1');
    await driver.acquire('p2-1', { waitMs: 60_000 });
    await bench.client.call('ACL', 'SETUSER', 'quiet', 'on', '>secret', '~*', 'resetchannels', '+@all');
    await bench.client.call('AUTH', 'quiet', 'secret');
    await driver.settle('p1-1');
    expect((await driver.beat(['p2-1'])).places).toMatchObject([{ kind: 'granted' }]);
    await bench.client.call('AUTH', 'default', '');
    expect(await bench.heard()).toEqual([]);
  });

  it('are one for each kind of command in a moment and slot, and never a long one', async () => {
    const bench = await start();
    const run = jest.spyOn(bench.redis, 'run');
    const driversOf = (slot: string): readonly ScopeDriver[] =>
      ['limits', 'budget'].map((name) => new ScopeDriver(bench, { ...scopeOf({ concurrency: 1_000 }, name), slot }));
    const drivers = [...driversOf('one'), ...driversOf('two')];
    const ids = Array.from({ length: 120 }, (_, number) => `p1-${number}`);
    await Promise.all(ids.slice(0, 20).flatMap((id) => drivers.map((driver) => driver.acquire(id))));
    expect(run).toHaveBeenCalledTimes(2);
    const settled = await Promise.all(drivers.map((driver) => driver.settle('p1-1')));
    expect(settled.map(({ kind }) => kind)).toEqual(['settled', 'settled', 'settled', 'settled']);
    expect(run).toHaveBeenCalledTimes(4);
    await Promise.all(ids.flatMap((id) => driversOf('three').map((driver) => driver.acquire(id))));
    expect(run).toHaveBeenCalledTimes(4 + 5);
  });

  it('fail for all that was asked with what failed, and for nobody else', async () => {
    const bench = await start();
    const [damaged, whole] = ['damaged', 'whole'].map(
      (name) => new ScopeDriver(bench, scopeOf({ concurrency: 9 }, name)),
    );
    if (damaged === undefined || whole === undefined) throw new Error('there are two');
    await bench.client.set(scopeKeys(bench.redis.keyPrefix, damaged.scope)[0] ?? '', 'x');
    const asked = await Promise.allSettled([damaged.acquire('p1-1'), damaged.acquire('p1-2'), whole.acquire('p1-1')]);
    expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });

  it('ignore what somebody else published', async () => {
    const bench = await start();
    const channel = `${bench.redis.keyPrefix}ad:p1`;
    for (const text of ['', '1', '1|a=1', '1|a=1|x', 'x|a=1|"s"', '1|a=1|"s'])
      await bench.client.publish(channel, text);
    expect(await bench.heard()).toEqual([]);
  });

  it(
    'show the upstream no overshoot, in virtual time',
    async () => {
      const limits = { windows: [{ windowMs: 2_000, requests: 30, tokens: 6_000, guardMs: 20 }], concurrency: 9 };
      const callers = ['a', 'b', 'c'].map((flow, index) => {
        const times = { durationMs: [50, 900], waitMs: [4_000, 9_000] } as const;
        return { flow, weight: 1 + index, calls: 8, ...times };
      });
      const faults = { lost: 0.1, left: 0.1, killed: 0.1, repeated: 0.1, overrun: 0 };
      const world = await new AdmissionWorld(await start(), {
        ...{ seed: 7, limits, callers, faults },
        forMs: sized(4_000, 120_000),
      }).run();
      expect(overshoots(world.books.calls, limits)).toEqual([]);
      expect(world.books.calls.length).toBeGreaterThan(20);
      expect(await world.state()).toMatchObject({ open: 0, queued: 0, windows: [{ requests: 0, tokens: 0 }] });
    },
    sized(30_000, 600_000),
  );
});

describe('the keys of a scope', () => {
  const scope = scopeOf({
    windows: [
      { windowMs: 60_000, requests: 2 },
      { windowMs: 1_000, tokens: 500 },
    ],
    ...{ concurrency: 2, budgets: [{ unit: 'usd', period: 'month', limit: 1_000 }] },
  });

  it('share one hash tag, which the name of the scope cannot leave', () => {
    const keys = scopeKeys('p:', { ...scope, name: 'a}{b' });
    expect(new Set(keys.map((key) => /\{[^{}]+\}/.exec(key)?.[0])).size).toBe(1);
    expect(new Set(keys).size).toBe(11);
  });

  it('all expire, whatever was done; those of one who was only looked at are not there', async () => {
    const { host, port } = server;
    const tuning = { commandTimeoutMs: 5_000, heartbeatMs: 1_000 };
    const redis = new RedisStore({ kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'ttl:', ...tuning });
    opened.push(redis);
    await redis.connected();
    const { client } = await start();
    const bench = {
      store: new RedisAdmissionStore(redis),
      clock: { us: 0 },
      heard: () => Promise.resolve([]),
      close: () => redis.close(),
    };
    const driver = new ScopeDriver(bench, scope);
    await driver.inspect();
    expect(await client.keys('ttl:*')).toEqual([]);
    for (let number = 0; number < 6; number += 1) {
      await driver.acquire(`p1-${number}`, { waitMs: 200_000, tokens: 100, microUsd: 10, flow: `f${number}` });
    }
    await driver.settle('p1-0', 50, 10);
    await driver.cancel('p1-3');
    await driver.beat(['p1-1', 'p1-2'], 'p1');
    await driver.hold(10);
    await driver.learn([{ windowMs: 60_000, requests: 1 }], 10);
    const names = await client.keys('ttl:*');
    expect(names.length).toBeGreaterThanOrEqual(9);
    const lives = await Promise.all(names.map((name) => client.pttl(name)));
    expect(names.filter((_, index) => (lives[index] ?? -1) <= 0)).toEqual([]);
  });

  it(
    'are as many for fifty thousand callers that have gone as for one',
    async () => {
      const bench = await start();
      const driver = new ScopeDriver(bench, scopeOf({ windows: [{ windowMs: 60_000, requests: 100_000 }] }));
      const count = sized(300, 50_000);
      for (let number = 0; number < count; number += 1) {
        await driver.acquire(`p1-${number}`, { flow: `caller ${number}` });
        await driver.settle(`p1-${number}`);
      }
      // Of two eras at most is anything remembered.
      for (let era = 0; era < 3; era += 1) {
        driver.pass(61_000);
        await driver.beat([]);
      }
      const [own] = scopeKeys(bench.redis.keyPrefix, driver.scope);
      const names = (await bench.client.keys('*')).filter((name) => name.includes('ad:{'));
      expect(names.every((name) => name === own || name.includes(':c:'))).toBe(true);
    },
    sized(30_000, 300_000),
  );
});
