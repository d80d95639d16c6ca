import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisFleetStore } from '../../src/ai/fleet/redis-fleet.store.js';
import { RedisStore } from '../../src/store/index.js';
import { eventually } from '../support/eventually.js';
import { breakDown, DEPLOYMENT, type FleetPod, fleetPod, KEY, MODEL } from '../support/fleet-pods.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

let server: RedisServer;
let admin: Redis;
let prefixes = 0;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startRedisServer();
  admin = new Redis({ port: server.port, host: server.host });
  admin.on('error', () => undefined);
});
afterEach(async () => {
  server.thaw();
  for (const end of ends.splice(0).toReversed()) await end();
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

interface RealPod extends FleetPod {
  readonly store: RedisStore;
}

/** A pod with connections of its own. */
async function pod(port = server.port): Promise<RealPod> {
  const store = new RedisStore({
    ...{ kind: 'standalone', host: server.host, port, db: 0, tls: false, keyPrefix: `f${prefixes}:` },
    ...{ commandTimeoutMs: 500, heartbeatMs: 50 },
  });
  const made = { ...fleetPod(new RedisFleetStore(store)), store };
  ends.push(async () => {
    await made.fleet.close();
    await store.close();
  });
  await made.fleet.start();
  return made;
}

async function two(port?: number): Promise<readonly [RealPod, RealPod]> {
  prefixes += 1;
  return [await pod(port), await pod(port)];
}

/** Left alone for half a second, and then half-open. */
async function halfOpen(all: readonly FleetPod[]): Promise<void> {
  all[0]?.fleet.standings.failed(DEPLOYMENT, { code: 'rate_limit_exceeded', tookMs: 5, retryAfterMs: 500 });
  await eventually(() => all.every(({ fleet }) => fleet.standings.of(DEPLOYMENT).state === 'half-open'));
}

describe('two pods on one Redis', () => {
  it('leave a deployment alone together, and use it again together', async () => {
    const [a, b] = await two();
    breakDown(a.fleet);
    const { retryAfterMs: left } = a.fleet.standings.of(DEPLOYMENT);
    await eventually(() => b.fleet.standings.of(DEPLOYMENT).state === 'open');
    expect(b.fleet.standings.of(DEPLOYMENT).retryAfterMs).toBeLessThanOrEqual(left);
    await eventually(() => b.fleet.standings.of(DEPLOYMENT).state === 'half-open');
    await eventually(() => b.fleet.standings.claimProbe(DEPLOYMENT));
    b.fleet.standings.succeeded(DEPLOYMENT, { tookMs: 0 });
    await eventually(() => a.fleet.standings.of(DEPLOYMENT).state === 'closed');
  });

  it('see each other’s latencies, ratios, quotas and parked keys', async () => {
    const [a, b] = await two();
    for (let call = 0; call < 30; call += 1) {
      a.fleet.latencies.streamed(MODEL, 8_000);
      b.fleet.latencies.streamed(MODEL, 4_000);
    }
    a.fleet.tokens.counted(MODEL, { ours: 100, providers: 180 });
    a.fleet.keys.checked(KEY, { tier: 'pro', remaining: 1 });
    a.fleet.keys.park(KEY, 'quota', 60_000);
    await eventually(
      () =>
        [a, b].every(({ fleet }) => fleet.latencies.firstTokenLimitMs(MODEL) === 15_000) &&
        b.fleet.tokens.of(MODEL) === 1.1 &&
        b.fleet.isNearlyUsed(DEPLOYMENT) &&
        b.fleet.keys.parkingOf(KEY)?.reason === 'quota',
    );
    b.fleet.keys.unpark(KEY);
    await eventually(() => a.fleet.keys.parkingOf(KEY) === undefined);
  });

  it('let one call probe of fifty on each', async () => {
    for (let round = 0; round < 5; round += 1) {
      const all = await two();
      await halfOpen(all);
      let winners = 0;
      // A pod's clock may be ahead of the store's by the way there: the first of these may all come too early.
      await eventually(async () => {
        const claims = all.flatMap(({ fleet }) =>
          Array.from({ length: 50 }, () => fleet.standings.claimProbe(DEPLOYMENT)),
        );
        winners += (await Promise.all(claims)).filter(Boolean).length;
        return winners > 0;
      });
      expect(winners).toBe(1);
    }
  });

  it('take over what is left of an outage when they start into it, and never lengthen it', async () => {
    const [a] = await two();
    breakDown(a.fleet);
    const key = `f${prefixes}:fl:{fleet}:1:standing:${DEPLOYMENT}`;
    await eventually(async () => (await admin.exists(key)) === 1);
    const late = await pod();
    // revision|end|since|openUntil|…
    const openUntil = Number((await admin.get(key))?.split('|')[3]);
    const [seconds, micros] = await admin.time();
    const leftMs = openUntil - (Number(seconds) * 1_000 + Number(micros) / 1_000);
    const { state, retryAfterMs } = late.fleet.standings.of(DEPLOYMENT);
    expect(state).toBe('open');
    expect(retryAfterMs).toBeLessThanOrEqual(Math.ceil(leftMs));
  });

  it('hear what they have missed when their subscription is back', async () => {
    const [a, b] = await two();
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    breakDown(a.fleet);
    await eventually(() => b.fleet.standings.of(DEPLOYMENT).state === 'open');
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(async () => Number((await admin.pubsub('NUMSUB', `f${prefixes}:fl:{fleet}:1:news`))[1]) === 2);
    a.fleet.keys.park(KEY, 'refused', 60_000);
    await eventually(() => b.fleet.keys.parkingOf(KEY) !== undefined);
  });
});

describe('a prober that dies', () => {
  it('has its place taken by the next call once its claim is over', async () => {
    const [dying, other] = await two();
    await halfOpen([dying, other]);
    await eventually(() => dying.fleet.standings.claimProbe(DEPLOYMENT));
    // Nothing of it reaches Redis any more, as if it had been killed.
    await dying.store.close();
    expect(await other.fleet.standings.claimProbe(DEPLOYMENT)).toBe(false);
    await eventually(() => other.fleet.standings.claimProbe(DEPLOYMENT));
    expect(other.told.at(-1)).toBe(`claimed ${DEPLOYMENT}`);
  });
});

describe('a Redis that goes and comes back', () => {
  it('is no reason to wait, to fail or to forget, and is told all when it is back', async () => {
    const own = await startRedisServer();
    ends.push(() => own.stop());
    const [a, b] = await two(own.port);
    await own.crash();
    await eventually(async () => {
      a.fleet.latencies.streamed(MODEL, 4_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return a.told.includes('store lost');
    });
    breakDown(a.fleet);
    a.fleet.keys.park(KEY, 'refused', 600_000);
    for (let call = 0; call < 100; call += 1) a.fleet.latencies.streamed(MODEL, 4_000);
    expect(a.fleet.standings.of(DEPLOYMENT).state).toBe('open');
    expect(a.fleet.latencies.firstTokenLimitMs(MODEL)).toBe(10_000);
    expect(b.fleet.keys.parkingOf(KEY)).toBeUndefined();
    await own.restart();
    await eventually(() => {
      a.fleet.standings.of(DEPLOYMENT);
      return b.fleet.keys.parkingOf(KEY) !== undefined && b.fleet.latencies.firstTokenLimitMs(MODEL) === 10_000;
    });
    expect(a.told.filter((words) => words === 'store lost')).toHaveLength(1);
    await eventually(() => a.told.includes('store back'));
    a.fleet.keys.unpark(KEY);
    await eventually(() => b.fleet.keys.parkingOf(KEY) === undefined);
  });

  it('which hangs holds up no claim: each pod probes for itself', async () => {
    const all = await two();
    await halfOpen(all);
    server.freeze();
    expect(await all[0].fleet.standings.claimProbe(DEPLOYMENT)).toBe(true);
    all[0].fleet.standings.succeeded(DEPLOYMENT, { tookMs: 0 });
    expect(all[0].fleet.standings.of(DEPLOYMENT).state).toBe('closed');
    server.thaw();
    await eventually(() => all[1].fleet.standings.of(DEPLOYMENT).state === 'closed');
  });
});
