import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Agent } from 'undici';
import { SeededRandom } from '../simulation/seeded.random.js';
import { ChaosScripts, LONG_WAIT, vocabularyOf, WAYS } from '../support/chaos-faults.js';
import { BAD_KEYS, CHAOS_PROVIDERS, chaosConfiguration, offeredModels } from '../support/chaos-fleet.js';
import {
  type ChaosEnd,
  type ChaosRequest,
  chaosRequest,
  markedProviders,
  markedRequest,
  sendChaos,
} from '../support/chaos-traffic.js';
import { faultsOf, outcomeOf } from '../support/chaos-verdict.js';
import { WireTap } from '../support/chaos-wire.js';
import { type Coordinator, startConfigured } from '../support/configured-coordinator.js';
import { eventually } from '../support/eventually.js';
import { recordFigures } from '../support/figures.js';
import { sized } from '../support/proof-scale.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { StallClock } from '../support/stall-clock.js';

jest.setTimeout(sized(120_000, 900_000));

const REQUESTS = sized(200, 2_000);
const LANES = 50;
/** Every so many requests one provider fails a while, in one way. */
const OUTAGE_EVERY = 100;
const OUTAGE_CALLS = 6;
/** A client that is told to come later does so, ms. */
const LATER_MS = sized(300, 1_500);
/** Between two looks whether a way can be met at last, ms. */
const ROUND_MS = 500;
const MOST_ROUNDS = 60;

describe('completions before five providers that fail in every way the simulator knows', () => {
  const seed = Number(process.env['CHAOS_SEED'] ?? Date.now() % 1_000_000);
  const random = new SeededRandom(seed);
  const requests = Array.from({ length: REQUESTS }, (_, index) => chaosRequest(seed, index));
  let simulators: readonly TestSimulator[];
  let scripts: ChaosScripts;
  let coordinator: Coordinator;
  let agent: Agent;
  let stalls: StallClock;
  let tap: WireTap;

  beforeEach(async () => {
    simulators = await Promise.all(
      CHAOS_PROVIDERS.map((provider, index) =>
        startTestSimulator({ models: offeredModels(provider), seed: seed + index }),
      ),
    );
    scripts = new ChaosScripts(simulators);
    for (const [index, provider] of CHAOS_PROVIDERS.entries()) {
      await scripts.start(simulatorAt(index), waysOf(provider, requests), BAD_KEYS);
      if (provider === 'b') await simulatorAt(index).script(LONG_WAIT);
    }
    coordinator = await startConfigured(chaosConfiguration(simulators.map(({ url }) => url)));
    agent = new Agent({ connections: LANES });
    stalls = new StallClock();
    tap = new WireTap(new Map(simulators.map(({ origin }, index) => [origin, CHAOS_PROVIDERS[index] ?? ''])));
  });
  afterEach(async () => {
    tap.stop();
    stalls.stop();
    await agent.close();
    await coordinator.close();
    await Promise.all(simulators.map((simulator) => simulator.close()));
  });

  it(`answers ${String(REQUESTS)} requests rightly or honestly, each in its time (CHAOS_SEED=${String(seed)})`, async () => {
    const ends: ChaosEnd[] = [];
    const startedAt = performance.now();
    const queue = requests.entries();
    const lane = async (): Promise<void> => {
      for (const [index, request] of queue) {
        if (index % OUTAGE_EVERY === OUTAGE_EVERY - 1)
          await scripts.outage(simulatorAt(random.below(simulators.length)), random, OUTAGE_CALLS);
        const end = await sendChaos(request, { url: coordinator.url, dispatcher: agent, stalls });
        ends.push(end);
        if (end.status === 503) await new Promise((resolve) => setTimeout(resolve, LATER_MS));
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const seconds = (performance.now() - startedAt) / 1_000;
    ends.push(...(await meetTheRest()));
    await everyCallEnded(simulators);

    const outcomes = countsOf(ends.map(outcomeOf));
    const ways = await scripts.met();
    const faults = faultsOf({ ends, calls: tap.calls });
    expect([`CHAOS_SEED=${String(seed)}`, ...faults]).toEqual([`CHAOS_SEED=${String(seed)}`]);
    expect(WAYS.filter((_, way) => ways[way] === 0)).toEqual([]);
    // Each once; of those that were left, some were gone before they were read.
    const read = await counted(coordinator);
    expect(read).toBeLessThanOrEqual(ends.length);
    expect(read).toBeGreaterThanOrEqual(ends.length - (outcomes['left'] ?? 0));
    expect(coordinator.logs()).not.toContain('unforeseen error');
    // Enough of it goes well: or else nothing was proved.
    const good = (outcomes['answered'] ?? 0) + (outcomes['streamed'] ?? 0);
    expect(good / ends.length).toBeGreaterThan(0.2);
    recordFigures('completions-chaos', {
      seed,
      requests: ends.length,
      atOneTime: LANES,
      seconds: Math.round(seconds),
      ...outcomes,
      statuses: countsOf(ends.map(({ status }) => String(status))),
      providerCalls: tap.calls.length,
      failedProviderCalls: tap.calls.filter(({ end }) => end === 'failed').length,
      waysOfFailing: WAYS.length,
      leastOftenMet: Math.min(...ways),
      mostAttempts: Math.max(...Object.values(countsOf(tap.calls.map(({ id }) => id)))),
    });
  });

  it('knows every word that the simulator has for what happens', async () => {
    const words = new Set(WAYS.flatMap(({ behaviour }) => Object.keys(behaviour)));
    expect([...(await vocabularyOf(simulatorAt(0)))].filter((word) => !words.has(word))).toEqual([]);
  });

  it('leaves no connection open, whatever became of the calls on it', async () => {
    const own = await startConfigured(chaosConfiguration(simulators.map(({ url }) => url)));
    const dispatcher = new Agent({ connections: LANES });
    const others = Array.from({ length: LANES }, (_, index) => chaosRequest(seed + 1, WAYS.length + index));
    await Promise.all(others.map((request) => sendChaos(request, { url: own.url, dispatcher, stalls })));
    expect(process.getActiveResourcesInfo()).toContain('TCPSocketWrap');
    await dispatcher.close();
    await own.close();
    await eventually(() => !process.getActiveResourcesInfo().includes('TCPSocketWrap'), 10_000);
  });

  /** Whoever was to fail in that way was left alone by then. @returns the requests that it took */
  async function meetTheRest(): Promise<readonly ChaosEnd[]> {
    const ends: ChaosEnd[] = [];
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      const ways = await scripts.met();
      const missing = [...ways.keys()].filter((way) => ways[way] === 0);
      if (missing.length === 0) break;
      const more = missing.map((way) => markedRequest(seed, way, round));
      const options = { url: coordinator.url, dispatcher: agent, stalls };
      ends.push(...(await Promise.all(more.map((request) => sendChaos(request, options)))));
      await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
    }
    return ends;
  }

  function simulatorAt(index: number): TestSimulator {
    const simulator = simulators[index];
    if (simulator === undefined) throw new RangeError(`there is no provider ${String(index)}`);
    return simulator;
  }
});

/** The ways that marked requests are to meet at that provider. */
function waysOf(provider: string, requests: readonly ChaosRequest[]): readonly number[] {
  return requests.flatMap((request) =>
    request.way !== undefined && markedProviders(request).includes(provider) ? [request.way] : [],
  );
}

function countsOf(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Also the calls that were abandoned: within a second, says the promise. */
async function everyCallEnded(simulators: readonly TestSimulator[]): Promise<void> {
  await eventually(async () => {
    const stats = await Promise.all(simulators.map((simulator) => simulator.stats()));
    return stats.every(({ inFlight }) => inFlight === 0);
  }, 5_000);
}

/** Completions that ended, by the metrics: each once. */
async function counted({ url }: Coordinator): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = [...text.matchAll(/^coordinator_completions_total\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
