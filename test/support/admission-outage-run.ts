import {
  AdmissionBusyError,
  AdmissionStoreError,
  MemoryAdmissionStore,
  type ScopeLimits,
} from '../../src/admission/index.js';
import { SeededRandom } from '../simulation/seeded.random.js';
import type { JudgedCall } from './admission-judge.js';
import { DOWN } from './admission-outage.js';
import { type AdmissionPod, AdmissionPods, scopeOf, wishFor } from './admission-pods.js';
import { pass } from './pass.js';

/** Some of the calls of one pod: so many at a time, from and until these times, ms. */
export interface OutageLoad {
  readonly pod: number;
  readonly lanes: number;
  readonly from: number;
  readonly forMs: number;
  readonly lastsMs: readonly [least: number, most: number];
}

export interface OutagePlan {
  readonly seed: number;
  readonly pods: number;
  readonly limits: ScopeLimits;
  readonly loads: readonly OutageLoad[];
  /** When the store fails, and for how long, ms. */
  readonly downAt: number;
  readonly downMs: number;
  /** It does not answer, or refuses at once. */
  readonly isSilent: boolean;
  /** It has lost what it knew when it is back. */
  readonly isLost: boolean;
  readonly forMs: number;
}

export interface OutageRun {
  readonly calls: readonly JudgedCall[];
  /** By the clock of the calls, ms. */
  readonly downAt: number;
  readonly backAt: number;
}

/** Half of the guard: the way to the provider. */
const TRANSIT_MS = 150;
const AGAIN_MS = 40;

/** Lets pods call through an outage of their store, in a time that a test fakes. */
export async function runOutage(plan: OutagePlan): Promise<OutageRun> {
  const { seed, pods: count, limits, loads, forMs } = plan;
  const random = new SeededRandom(seed);
  const pods = new AdmissionPods();
  const members = Array.from({ length: count }, () => pods.pod({ pods: count }));
  const scope = scopeOf(limits);
  const calls: JudgedCall[] = [];
  const begunAt = performance.now();
  const between = ([least, most]: readonly [number, number]): number =>
    Math.round(least + random.next() * (most - least));

  const call = async ({ service }: AdmissionPod, lastsMs: readonly [number, number]): Promise<void> => {
    const [prompt, output, part] = [between([1, 20]), between([1, 60]), random.next()];
    const actual = prompt + Math.ceil(part * output);
    const reservation = await service.reserve(wishFor(scope, { tokens: prompt + output, waitMs: 20_000 }));
    if (!reservation.mayStillSend()) return reservation.cancel();
    if (random.chance(0.03)) return reservation.cancel();
    reservation.sent();
    const arrivedAt = performance.now() + random.next() * TRANSIT_MS;
    await pass(between(lastsMs) + TRANSIT_MS);
    calls.push({ flow: 'a', arrivedAt, endedAt: performance.now(), prompt, estimated: prompt + output, actual });
    return reservation.settle({ tokens: actual });
  };
  const lane = async (pod: AdmissionPod, load: OutageLoad): Promise<void> => {
    await pass(load.from + random.next() * 100);
    while (performance.now() - begunAt < Math.min(forMs, load.from + load.forMs)) {
      try {
        await call(pod, load.lastsMs);
      } catch (error) {
        if (!(error instanceof AdmissionBusyError || error instanceof AdmissionStoreError)) throw error;
      }
      await pass(AGAIN_MS);
    }
  };
  const outage = async (): Promise<void> => {
    await pass(plan.downAt);
    for (const { way } of members) way.always(plan.isSilent ? 'unsent' : DOWN);
    await pass(plan.downMs);
    const store = plan.isLost ? new MemoryAdmissionStore() : undefined;
    for (const { way } of members) {
      way.store = store ?? way.store;
      way.heal();
    }
  };
  const lanes = loads.flatMap((load) => {
    const pod = members[load.pod % count];
    return pod === undefined ? [] : Array.from({ length: load.lanes }, () => lane(pod, load));
  });
  await Promise.all([...lanes, outage()]);
  await pods.close();
  return { calls, downAt: begunAt + plan.downAt, backAt: begunAt + plan.downAt + plan.downMs };
}
