import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { PodWatch } from '../support/pod-watch.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { CALLER, PODS, RollingFleet } from '../support/rolling-fleet.js';
import { CALL_KINDS, type Lanes, RollingTraffic } from '../support/rolling-traffic.js';
import { type BookedCall, type PodEnd, rolloutFaults } from '../support/rolling-verdict.js';
import type { SpawnedServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 900_000));

/** How often every pod is replaced. */
const ROUNDS = sized(1, 2);
/** The image's is 5 s. */
const DRAIN_DELAY_MS = sized(1_500, 5_000);
/** Of that, the part in which nobody may be turned away; a busy machine is late with its signals. */
const WATCHED = 0.6;
const GRACE_MS = 60_000;
const LANES: Lanes = {
  stream: sized(40, 200),
  json: sized(4, 20),
  joined: sized(1, 5),
  batch: sized(1, 5),
  turn: sized(3, 20),
  visit: sized(4, 12),
};
/** Each some nine tokens long. */
const WORDS = sized(8, 6);
const TOKENS_PER_SECOND = sized(25, 3);
/** About as long as a stream. */
const RAMP_MS = sized(2_500, 17_000);

const TOPOLOGIES = isFullProof ? (['standalone', 'sentinel'] as const) : (['standalone'] as const);

describe.each(TOPOLOGIES)('a rolling restart of three pods behind HAProxy, Redis %s', (topology) => {
  let fleet: RollingFleet;
  let traffic: RollingTraffic;
  beforeEach(async () => {
    const environment = { DRAIN_DELAY_MS: String(DRAIN_DELAY_MS), SHUTDOWN_GRACE_MS: String(GRACE_MS) };
    fleet = await RollingFleet.start({ topology, environment, tokensPerSecond: TOKENS_PER_SECOND });
    traffic = new RollingTraffic(fleet.url, { lanes: LANES, words: WORDS, rampMs: RAMP_MS });
  });
  afterEach(async () => {
    // Where the test has failed, they are still at it.
    const ended = traffic.end();
    await fleet.close();
    await ended;
  });

  it(`under ${String(LANES.stream)} streams and calls of every kind fails none and cuts none`, async () => {
    await eventually(async () => (await fleet.judge.stats()).inFlight >= LANES.stream, 60_000);
    const startedAt = performance.now();
    const pods = await rollOver(fleet, ROUNDS);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    await traffic.end();
    await eventually(async () => (await fleet.judge.stats()).inFlight === 0);
    const { calls, visits } = traffic;
    const ledger = await ledgerOf(fleet, calls.flatMap(({ booked }) => booked).length);
    const left = await fleet.leftWork();
    const balanced = fleet.balancer.requests();
    expect(rolloutFaults({ calls, visits, pods, balanced, ledger, left, graceMs: GRACE_MS })).toEqual([]);

    // What was to be shown has been there.
    expect(pods).toHaveLength(PODS * ROUNDS);
    const counts = CALL_KINDS.map((kind) => [kind, calls.filter((call) => call.kind === kind).length] as const);
    expect(counts.filter(([kind, count]) => count < LANES[kind])).toEqual([]);
    expect(new Set(balanced.map(({ slot }) => slot)).size).toBeGreaterThan(PODS);
    expect(ledger.some(({ outcome }) => outcome === 'joined')).toBe(true);
    recordFigures('rolling-restart', {
      [topology]: {
        ...{ pods: PODS, restarts: pods.length, streamsAtATime: LANES.stream, seconds },
        ...{ calls: Object.fromEntries(counts), failed: 0, cut: 0, ledger: ledger.length },
        longestDrainMs: Math.round(Math.max(...pods.map(({ tookMs }) => tookMs))),
      },
    });
  });
});

/** As a Deployment does with maxUnavailable 0 and maxSurge 1: each new pod is ready before an old one is told to end. */
async function rollOver(fleet: RollingFleet, rounds: number): Promise<readonly PodEnd[]> {
  const ends: Promise<PodEnd>[] = [];
  for (let count = 1; count <= rounds * PODS; count += 1) {
    await fleet.add();
    ends.push(endOf(fleet, fleet.retireOldest(), `restart ${String(count)}`));
    // They drain side by side, as in a cluster, but no more of them than there are pods.
    await ends.at(-PODS);
  }
  return Promise.all(ends);
}

async function endOf(fleet: RollingFleet, pod: SpawnedServer, name: string): Promise<PodEnd> {
  const watch = new PodWatch(pod.url, CALLER, DRAIN_DELAY_MS * WATCHED);
  await eventually(() => watch.sightings.length > 2);
  const signalledAt = performance.now();
  pod.process.kill('SIGTERM');
  const ended = await pod.ended;
  const tookMs = performance.now() - signalledAt;
  await watch.over;
  await fleet.balancer.remove(pod.url);
  return { name, ended, tookMs, sightings: watch.sightings };
}

/** Once it has so many entries; pods book within a quarter of a second. Where some stay away, the verdict says which. */
async function ledgerOf(fleet: RollingFleet, owed: number): Promise<readonly BookedCall[]> {
  const headers = { authorization: `Bearer ${CALLER}` };
  for (const end = performance.now() + 10_000; ; await new Promise((resolve) => setTimeout(resolve, 250))) {
    const text = await (await fetch(`${fleet.url}/v1/usage/ledger?limit=100000`, { headers })).text();
    const lines = text.split('\n').filter((line) => line !== '');
    if (lines.length >= owed || performance.now() > end) return lines.map((line) => JSON.parse(line) as BookedCall);
  }
}
