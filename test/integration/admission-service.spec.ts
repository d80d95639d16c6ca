import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type AdmissionStore, RedisAdmissionStore, type Scope } from '../../src/admission/index.js';
import { load, type LoadTally, UpstreamJudge } from '../support/admission-load.js';
import { type AdmissionPod, AdmissionPods, scopeOf, wishFor } from '../support/admission-pods.js';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { pass } from '../support/pass.js';
import { sized } from '../support/proof-scale.js';
import { type BenchOptions, storeBench, TIMEOUT_MS } from '../support/store-bench.js';

jest.setTimeout(180_000);
const bench = storeBench();
const PODS = 3;
const GUARD_MS = 500;
/** Half of the guard is for the way to the upstream; a busy machine takes a part of it, for it tells us of Redis' clock late. */
const TRANSIT_MS = sized(GUARD_MS / 4, GUARD_MS / 2);

/** Three services, each with connections of its own. */
class Fleet {
  /** Ends their load. */
  readonly leaving = new AbortController();
  readonly #each: readonly AdmissionPods[];
  readonly pods: readonly AdmissionPod[];

  constructor(options: BenchOptions = {}) {
    this.#each = Array.from({ length: PODS }, () => new AdmissionPods(new RedisAdmissionStore(bench.open(options))));
    this.pods = this.#each.map((one) => one.pod({ pods: PODS, graceMs: 500 }));
  }

  get store(): AdmissionStore {
    return new RedisAdmissionStore(bench.open());
  }

  async close(): Promise<void> {
    this.leaving.abort();
    await Promise.all(this.#each.map((one) => one.close()));
  }
}

let fleet: Fleet;

afterEach(async () => {
  bench.server.thaw();
  await fleet.close();
});

async function expectNothingOpen(store: AdmissionStore, scope: Scope): Promise<void> {
  await eventually(async () => {
    const { open, queued, reserved } = await store.inspect(scope);
    return open + queued + reserved.tokens + reserved.microUsd === 0;
  });
}

describe('AdmissionService on Redis', () => {
  it('uses all of a limit and never more, first come first served, and shares it by weight', async () => {
    const windowMs = 2_000;
    const requests = 120;
    const judge = new UpstreamJudge(TRANSIT_MS);
    const windows = [{ windowMs, requests, guardMs: GUARD_MS, burst: 0.1 }];
    const scope = scopeOf({ windows, concurrency: 200 });
    const callers = [
      { flow: 'free', weight: 1, calls: 10 },
      { flow: 'pro', weight: 2, calls: 15 },
      { flow: 'enterprise', weight: 4, calls: 20 },
    ];
    fleet = new Fleet();
    const { leaving } = fleet;
    const cycles = sized(3, 24);
    const running = fleet.pods.map(({ service }) =>
      load(service, { scope, judge, callers, lastsMs: 50 }, leaving.signal),
    );
    await eventually(() => judge.arrivals.length > cycles * requests, 120_000);
    leaving.abort();
    const tallies = await Promise.all(running);
    const sent = judge.arrivals.slice(0, cycles * requests + 1);
    const tookMs = (sent.at(-1)?.sentAt ?? Infinity) - (sent[0]?.sentAt ?? 0);
    const used = (cycles * (windowMs + GUARD_MS)) / tookMs;
    const worst = judge.worst(windowMs);
    const shares = callers.map(({ flow, weight }) => {
      // Who comes first has what is there before anybody waits.
      const count = sent.slice(requests).filter((arrival) => arrival.flow === flow).length;
      return { flow, ofItsWeight: count / (((cycles - 1) * requests * weight) / 7) };
    });
    recordFigures('admission-service', { pods: PODS, windowMs, requests, worst, shares, ofWhatTheGuardLeaves: used });
    expect(worst).toBeLessThanOrEqual(requests);
    // A machine that runs other things beside sends late.
    expect(used).toBeGreaterThan(sized(0.8, 0.95));
    for (const { ofItsWeight } of shares) expect(Math.abs(ofItsWeight - 1)).toBeLessThan(0.1);
    expect(sum(tallies, ({ refused, storeRefused }) => refused + storeRefused)).toBe(0);
    for (const { way } of fleet.pods) {
      for (const grants of way.grants.values()) {
        const times = [...grants.values()].filter(Number.isFinite);
        expect(times).toEqual([...times].sort((a, b) => a - b));
      }
    }
    await expectNothingOpen(fleet.store, scope);
  });

  it('never has more calls at a time than slots, over all processes', async () => {
    const judge = new UpstreamJudge(0);
    const scope = scopeOf({ concurrency: 5 }, 'deployment:slots');
    fleet = new Fleet();
    const { leaving } = fleet;
    const running = fleet.pods.map(({ service }) =>
      load(service, { scope, judge, callers: [{ flow: 'a', calls: 20 }], lastsMs: 20 }, leaving.signal),
    );
    await pass(sized(1_000, 20_000));
    leaving.abort();
    await Promise.all(running);
    expect(judge.peak).toBe(5);
    expect(judge.arrivals.length).toBeGreaterThan(20);
    await expectNothingOpen(fleet.store, scope);
  });

  it('goes on with a part of the limit while Redis is gone, and comes back by itself', async () => {
    const windowMs = 1_000;
    const requests = 30;
    const judge = new UpstreamJudge(TRANSIT_MS);
    const scope = scopeOf({ windows: [{ windowMs, requests, guardMs: GUARD_MS, burst: 0.1 }] }, 'deployment:outage');
    fleet = new Fleet({ commandTimeoutMs: TIMEOUT_MS });
    const { leaving } = fleet;
    const callers = [{ flow: 'a', calls: 10 }];
    const running = fleet.pods.map(({ service }) =>
      load(service, { scope, judge, callers, lastsMs: 30 }, leaving.signal),
    );
    await pass(sized(1_000, 10_000));
    await bench.server.crash();
    const goneAt = performance.now();
    await eventually(() => fleet.pods.every(({ service }) => service.health.store === 'away'));
    const awayAt = performance.now();
    await pass(sized(2_000, 10_000));
    const backAt = performance.now();
    await bench.server.restart();
    await eventually(() => fleet.pods.every(({ service }) => service.health.store === 'up'));
    const upAt = performance.now();
    await pass(sized(1_500, 10_000));
    leaving.abort();
    const tallies = await Promise.all(running);
    const worst = {
      before: judge.worst(windowMs, -Infinity, goneAt),
      away: judge.worst(windowMs, awayAt, backAt),
      after: judge.worst(windowMs, upAt + windowMs),
      ever: judge.worst(windowMs),
    };
    recordFigures('admission-service', { outage: { pods: PODS, windowMs, requests, worst } });
    expect(Math.max(worst.before, worst.away, worst.after)).toBeLessThanOrEqual(requests);
    // Nobody knows at its edges what was used on the other side.
    expect(worst.ever).toBeLessThanOrEqual(2 * requests);
    expect(judge.sent(awayAt, backAt)).toBeGreaterThan(PODS);
    expect(judge.sent(upAt, Infinity)).toBeGreaterThan(0);
    expect(sum(tallies, ({ storeRefused }) => storeRefused)).toBe(0);
    expect(sum(tallies, ({ local }) => local)).toBeGreaterThan(PODS);
    await expectNothingOpen(fleet.store, scope);
  });

  it('refuses without Redis what has a budget, and spends after it what was reserved before', async () => {
    fleet = new Fleet({ commandTimeoutMs: TIMEOUT_MS });
    const [{ service }] = fleet.pods as readonly [AdmissionPod];
    const scope = scopeOf({ budgets: [{ unit: 'tokens', period: 'day', limit: 1_000 }] }, 'caller:acme');
    const reservation = await service.reserve(wishFor(scope, { tokens: 100 }));
    bench.server.freeze();
    await expect(service.reserve(wishFor(scope, { tokens: 100, waitMs: 0 }))).rejects.toMatchObject({
      name: 'AdmissionStoreError',
      code: 'store_unavailable',
    });
    await reservation.settle({ tokens: 60 });
    bench.server.thaw();
    await expectNothingOpen(fleet.store, scope);
    expect((await fleet.store.inspect(scope)).budgets[0]?.spent).toBe(60);
  });
});

function sum(tallies: readonly LoadTally[], read: (tally: LoadTally) => number): number {
  return tallies.reduce((total, tally) => total + read(tally), 0);
}
