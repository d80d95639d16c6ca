import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AdmissionBusyError, AdmissionOptionsError, type ReservationStack } from '../../../src/admission/index.js';
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
const CALLER = scopeOf(
  { windows: [{ windowMs: 60_000, requests: 50 }], tokenRule: 'own', budgets: [BUDGET] },
  'caller:acme',
);
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

describe('ReservationStack', () => {
  it('settles what it holds, the last one first', async () => {
    const pod = pods.pod();
    const stack = pod.service.stack();
    await stack.reserve(callerWish);
    await stack.reserve(deploymentWish);
    await stack.sending();
    await stack.settle({ tokens: 60, microUsd: 180 });
    await stack.end();
    await stack.settle({ tokens: 1 });
    expect(pod.observer.told.filter((word) => word.startsWith('settled'))).toEqual([
      'settled deployment',
      'settled caller',
    ]);
    expect(await spentOf(pod)).toBe(180);
    await expectNothingOpen(pod);
  });

  it('leaves nothing of a call that is refused on its second step', async () => {
    const pod = pods.pod();
    const [holder] = await fill(pod, deploymentWish);
    const stack = pod.service.stack();
    await stack.reserve(callerWish);
    await refusalOf(AdmissionBusyError, stack.reserve({ ...deploymentWish, waitMs: 0 }));
    expect(stack.held).toHaveLength(1);
    await stack.end();
    await holder?.settle();
    await expectNothingOpen(pod);
    expect((await pod.service.inspect(CALLER)).windows[0]?.requests).toBe(0);
    expect(await spentOf(pod)).toBe(0);
  });

  it('keeps the first step on a fallback, and repeats the second', async () => {
    const pod = pods.pod();
    const stack = pod.service.stack();
    await stack.reserve(callerWish);
    await stack.reserve(deploymentWish);
    await stack.sending();
    await stack.settleTop({ tokens: 0 });
    await stack.reserve(wishFor(FALLBACK));
    await stack.drop();
    await stack.reserve(wishFor(FALLBACK));
    await stack.sending();
    await stack.settle({ tokens: 50, microUsd: 150 });
    expect(pod.way.calls).toMatchObject({ acquire: 4, settle: 3, cancel: 1 });
    expect(await spentOf(pod)).toBe(150);
    await expectNothingOpen(pod);
  });

  it('asks again for the last one only, where its grant is too old to be used', async () => {
    const pod = pods.pod();
    const stack = pod.service.stack();
    await stack.reserve(callerWish);
    await stack.reserve(deploymentWish);
    await pass(1_000);
    await stack.sending();
    expect(pod.way.calls).toMatchObject({ acquire: 3, cancel: 1 });
    expect(stack.held.every(({ isSent }) => isSent)).toBe(true);
    await stack.settle();
    await expectNothingOpen(pod);
  });

  it('undoes what is granted to a call that is over', async () => {
    const pod = pods.pod();
    const [holder] = await fill(pod, deploymentWish);
    const stack = pod.service.stack();
    const second = stack.reserve(deploymentWish);
    await pass(10);
    await stack.end();
    await holder?.settle();
    await refusalOf(AdmissionOptionsError, second);
    await refusalOf(AdmissionOptionsError, stack.sending());
    await expectNothingOpen(pod);
  });

  it('books a call that was sent and never settled as it was reserved', async () => {
    const pod = pods.pod();
    const stack = pod.service.stack();
    await stack.reserve(callerWish);
    await stack.reserve(deploymentWish);
    await stack.sending();
    await stack.end();
    expect(await spentOf(pod)).toBe(300);
    await expectNothingOpen(pod);
  });

  it('leaks nothing, whatever becomes of the calls', async () => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const run = new CallRun(pods, seed);
      await Promise.all(Array.from({ length: 60 }, () => run.call()));
      await pass(20_000);
      await expectNothingOpen(run.judge);
      expect(run.overlaps).toBe(0);
      expect(run.served).toBeGreaterThan(5);
    }
    expect(await spentOf(pods.pod())).toBe(CallRun.spent);
    expect(time.timers()).toBe(0);
  });
});

/** Calls that are refused, aborted, late, sent elsewhere, and whose answers get lost, as chance wants. */
class CallRun {
  static spent = 0;
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
    const { service, way } = this.#random.pick(this.#pods);
    const leaving = new AbortController();
    const leave = setTimeout(() => {
      leaving.abort(new Error('gone'));
    }, this.#random.below(20_000));
    for (const kind of ['settle', 'cancel'] as const) if (this.#random.chance(0.1)) way.next(kind, 'lost');
    const stack = service.stack();
    try {
      await this.#through(stack, leaving.signal);
    } catch (error) {
      if (!(error instanceof AdmissionBusyError) && error !== leaving.signal.reason) throw error;
    } finally {
      clearTimeout(leave);
      await stack.end();
    }
  }

  async #through(stack: ReservationStack, signal: AbortSignal): Promise<void> {
    await stack.reserve({ ...callerWish, signal, waitMs: 5_000 });
    await stack.reserve({ ...deploymentWish, signal, waitMs: this.#random.below(10_000) });
    await pass(this.#random.below(300));
    await stack.sending(signal);
    this.#running += 1;
    this.served += 1;
    if (this.#running > 1) this.overlaps += 1;
    await pass(this.#random.below(400));
    this.#running -= 1;
    const microUsd = this.#random.below(300);
    const isForgotten = this.#random.chance(0.2);
    CallRun.spent += isForgotten ? 300 : microUsd;
    if (!isForgotten) await stack.settle({ tokens: 10, microUsd });
  }
}
