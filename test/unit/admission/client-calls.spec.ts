import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AdmissionBusyError, type Reservation } from '../../../src/admission/index.js';
import { SeededRandom } from '../../simulation/seeded.random.js';
import { type AdmissionPod, AdmissionPods, fill, refusalOf, scopeOf, wishFor } from '../../support/admission-pods.js';
import { pass } from '../../support/pass.js';
import { VirtualTime } from '../../support/test-time.js';

const time = new VirtualTime();
let pods: AdmissionPods;

beforeEach(() => {
  time.begin();
  pods = new AdmissionPods();
});
afterEach(async () => {
  await pods.close();
  time.end();
});

const BUDGET = { unit: 'usd', period: 'day', limit: 1_000_000_000 } as const;
const WINDOW = { windowMs: 60_000, requests: 50 };
const CALLER = scopeOf({ windows: [WINDOW], tokenRule: 'own', budgets: [BUDGET] }, 'caller:acme');
const DEPLOYMENT = scopeOf({ concurrency: 1, windows: [{ windowMs: 60_000, requests: 1_000 }] });
const FALLBACK = scopeOf({ concurrency: 2 }, 'deployment:two');
const callerWish = wishFor(CALLER, { kind: 'caller', tokens: 100, microUsd: 300 });
const deploymentWish = wishFor(DEPLOYMENT, { tokens: 100 });

async function expectNothingOpen({ service }: AdmissionPod): Promise<void> {
  for (const scope of [CALLER, DEPLOYMENT, FALLBACK]) {
    expect(await service.inspect(scope)).toMatchObject({ open: 0, queued: 0, reserved: { microUsd: 0, tokens: 0 } });
  }
}

async function spentOf({ service }: AdmissionPod): Promise<number | undefined> {
  return (await service.inspect(CALLER)).budgets[0]?.spent;
}

describe('A call that needs room in its caller and in a deployment', () => {
  it('leaves nothing when it is refused on its second step', async () => {
    const pod = pods.pod();
    const [holder] = await fill(pod, deploymentWish);
    const first = await pod.service.reserve(callerWish);
    await refusalOf(AdmissionBusyError, pod.service.reserve({ ...deploymentWish, waitMs: 0 }));
    await first.cancel();
    await holder?.settle();
    await expectNothingOpen(pod);
    expect((await pod.service.inspect(CALLER)).windows[0]?.requests).toBe(0);
    expect(await spentOf(pod)).toBe(0);
  });

  it('keeps the first step on a fallback, and repeats the second', async () => {
    const pod = pods.pod();
    const first = await pod.service.reserve(callerWish);
    const second = await pod.service.reserve(deploymentWish);
    second.sent();
    await second.settle({ tokens: 0 });
    const third = await pod.service.reserve(wishFor(FALLBACK));
    third.sent();
    await third.settle({ tokens: 50 });
    await first.settle({ tokens: 50, microUsd: 150 });
    expect(pod.way.calls).toMatchObject({ acquire: 3, settle: 3, cancel: 0 });
    expect(await spentOf(pod)).toBe(150);
    await expectNothingOpen(pod);
  });

  it('leaks nothing, whatever becomes of it', async () => {
    let spent = 0;
    for (let seed = 1; seed <= 5; seed += 1) {
      const run = new CallRun(pods, seed);
      await Promise.all(Array.from({ length: 60 }, () => run.call()));
      await pass(20_000);
      await expectNothingOpen(run.judge);
      expect(run.overlaps).toBe(0);
      expect(run.served).toBeGreaterThan(5);
      spent += run.spent;
    }
    expect(await spentOf(pods.pod())).toBe(spent);
    expect(time.timers()).toBe(0);
  });
});

/** Calls that are refused, aborted, late or forgotten, and whose answers get lost, as chance wants. */
class CallRun {
  spent = 0;
  overlaps = 0;
  served = 0;
  readonly judge: AdmissionPod;
  readonly #random: SeededRandom;
  readonly #pods: readonly [AdmissionPod, AdmissionPod];
  #running = 0;

  constructor(pods: AdmissionPods, seed: number) {
    this.#random = new SeededRandom(seed);
    this.judge = pods.pod();
    this.#pods = [pods.pod(), pods.pod()];
  }

  async call(): Promise<void> {
    await pass(this.#random.below(3_000));
    const pod = this.#random.pick(this.#pods);
    const leaving = new AbortController();
    const leave = setTimeout(() => {
      leaving.abort(new Error('gone'));
    }, this.#random.below(20_000));
    for (const kind of ['settle', 'cancel'] as const) if (this.#random.chance(0.1)) pod.way.next(kind, 'lost');
    const held: Reservation[] = [];
    try {
      await this.#through(pod, held, leaving.signal);
    } catch (error) {
      if (!(error instanceof AdmissionBusyError) && error !== leaving.signal.reason) throw error;
    } finally {
      clearTimeout(leave);
      for (const reservation of held.toReversed()) await reservation.cancel();
    }
  }

  async #through({ service }: AdmissionPod, held: Reservation[], signal: AbortSignal): Promise<void> {
    held.push(await service.reserve({ ...callerWish, signal, waitMs: 5_000 }));
    const wish = { ...deploymentWish, signal, waitMs: this.#random.below(10_000) };
    held.push(await service.reserve(wish));
    await pass(this.#random.below(300));
    while (held.at(-1)?.mayStillSend() === false) {
      await held.pop()?.cancel();
      held.push(await service.reserve(wish));
    }
    for (const reservation of held) reservation.sent();
    await this.#work();
    const microUsd = this.#random.below(300);
    const isForgotten = this.#random.chance(0.2);
    this.spent += isForgotten ? 300 : microUsd;
    if (!isForgotten) for (const reservation of held.toReversed()) await reservation.settle({ tokens: 10, microUsd });
  }

  async #work(): Promise<void> {
    this.#running += 1;
    this.served += 1;
    if (this.#running > 1) this.overlaps += 1;
    await pass(this.#random.below(400));
    this.#running -= 1;
  }
}
