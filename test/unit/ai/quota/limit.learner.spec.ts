import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Fleet } from '../../../../src/ai/fleet/index.js';
import { MemoryFleetStore } from '../../../../src/ai/fleet/memory-fleet.store.js';
import { LearnedMetrics } from '../../../../src/ai/quota/learned.metrics.js';
import { LimitLearner } from '../../../../src/ai/quota/limit.learner.js';
import { minuteLimitsOf } from '../../../../src/ai/quota/minute.limits.js';
import { QuotaScopes } from '../../../../src/ai/quota/quota.scopes.js';
import { type AdmissionPod, AdmissionPods } from '../../../support/admission-pods.js';
import { catalogue, deployment, model, provider } from '../../../support/catalogues.js';
import { pass } from '../../../support/pass.js';
import { VirtualTime } from '../../../support/test-time.js';

const places = catalogue({
  models: [
    model('own', [deployment('one', { limits: { rpm: 600, tpm: 90_000 } }), deployment('two')]),
    model('only', [deployment('three')], { limits: { windows: [{ windowMs: 60_000, requests: 50 }] } }),
    model('slots', [deployment('four', { limits: { concurrency: 5, windows: [{ windowMs: 1_000, requests: 9 }] } })]),
  ],
  providers: ['one', 'two', 'three', 'four'].map((name) => provider(name, `k-${name}`)),
  tiers: { free: [], pro: [], enterprise: [] },
});
const [ONE = '', TWO = '', THREE = '', FOUR = ''] = places.deployments().map(({ id }) => id);

/** One process. */
interface Pod {
  readonly admission: AdmissionPod;
  readonly fleet: Fleet;
}

const time = new VirtualTime();
let pods: AdmissionPods;
let fleetStore: MemoryFleetStore;
let started: Pod[];

beforeEach(() => {
  time.begin();
  pods = new AdmissionPods();
  fleetStore = new MemoryFleetStore(() => Date.now() * 1_000);
  started = [];
});
afterEach(async () => {
  for (const { fleet } of started) await fleet.close();
  await pods.close();
  time.end();
});

function pod(): Pod {
  const admission = pods.pod({ pods: 2 });
  const fleet = new Fleet({
    store: fleetStore,
    deployments: places.deployments().map(({ id, upstream }) => ({ id, key: upstream.keyId })),
    models: [],
  });
  new LimitLearner(places, fleet, admission.service, new QuotaScopes());
  started.push({ admission, fleet });
  return { admission, fleet };
}

/** Headers of an answer that was just received. */
function told({ fleet }: Pod, id: string, limits: Readonly<Record<string, string>>, reset = '30s'): void {
  const headers = Object.entries(limits).flatMap(([unit, limit]) => [
    [`x-ratelimit-limit-${unit}`, limit],
    [`x-ratelimit-remaining-${unit}`, '1'],
    [`x-ratelimit-reset-${unit}`, reset],
  ]);
  fleet.limits.told(id, Object.fromEntries(headers) as Record<string, string>);
}

/** Requests and tokens of a minute that a scope goes by. */
async function inForce({ admission }: Pod, name: 'deployment' | 'model', id = ONE): Promise<readonly unknown[]> {
  const scopes = new QuotaScopes();
  const found = places.deployments().find((each) => each.id === id);
  const served = places.models.find((each) => each.name === 'only');
  const quota = name === 'model' ? served && scopes.ofModel(served) : found && scopes.ofDeployment(found);
  if (quota === undefined) throw new RangeError(`${id} has no limits`);
  const [window] = (await admission.service.inspect(quota.scope)).windows;
  return [window?.requestLimit, window?.tokenLimit];
}

describe('LimitLearner', () => {
  it('has all processes go by the lower limits that a provider tells, for three minutes', async () => {
    const [one, other] = [pod(), pod()];
    told(one, ONE, { requests: '300', tokens: '90000' });
    await pass(1);
    expect(await inForce(other, 'deployment')).toEqual([300, 90_000]);
    await pass(179_000);
    expect(await inForce(other, 'deployment')).toEqual([300, 90_000]);
    await pass(1_100);
    expect(await inForce(other, 'deployment')).toEqual([600, 90_000]);
  });

  it('tells the store what is lower than before, and repeats it when half of its time is over', async () => {
    const one = pod();
    const { calls } = one.admission.way;
    for (let answer = 0; answer < 50; answer += 1) {
      told(one, ONE, { requests: '300' });
      await pass(1_000);
    }
    expect(calls.learn).toBe(1);
    told(one, ONE, { requests: '200' });
    await pass(1);
    expect([calls.learn, await inForce(one, 'deployment')]).toEqual([2, [200, 90_000]]);
    for (let answer = 0; answer < 100; answer += 1) {
      told(one, ONE, { requests: answer % 2 === 0 ? '200' : '250' });
      await pass(1_000);
    }
    expect(calls.learn).toBeLessThanOrEqual(4);
    expect(await inForce(one, 'deployment')).toEqual([200, 90_000]);
  });

  it('goes by higher ones again when those are told for a while, and never by higher ones than ours', async () => {
    const one = pod();
    told(one, ONE, { requests: '100', tokens: '40000' });
    await pass(95_000);
    told(one, ONE, { requests: '400', tokens: '40000' });
    await pass(1);
    expect(await inForce(one, 'deployment')).toEqual([400, 40_000]);
    for (let second = 0; second < 190; second += 1) {
      told(one, ONE, { requests: '100000', tokens: '100000000' });
      await pass(1_000);
    }
    expect(await inForce(one, 'deployment')).toEqual([600, 90_000]);
  });

  it.each(['0', '-5', '1.5', 'NaN', '', '1e2', '5', '999999999999999999', '600', 'many'])(
    'makes nothing of a limit of %j',
    async (limit) => {
      const one = pod();
      told(one, ONE, { requests: limit });
      await pass(1);
      expect(one.admission.way.calls.learn).toBe(0);
    },
  );

  it('makes nothing of what is no minute, contradicts itself, or has no limit of ours', async () => {
    const one = pod();
    told(one, ONE, { requests: '300' }, '6h0m0s');
    one.fleet.limits.told(TWO, { 'x-ratelimit-limit-requests': '3' });
    told(one, TWO, { requests: '300', tokens: '30' });
    told(one, FOUR, { requests: '3', tokens: '30' });
    one.fleet.limits.told(THREE, {
      'x-ratelimit-limit-requests': '20',
      'x-ratelimit-remaining-requests': '21',
      'x-ratelimit-reset-requests': '1s',
    });
    await pass(1);
    expect(one.admission.way.calls.learn).toBe(0);
  });

  it("lowers a model's limits where one deployment is all that it has, and understands Anthropic's words", async () => {
    const one = pod();
    one.fleet.limits.told(THREE, {
      'anthropic-ratelimit-requests-limit': '20',
      'anthropic-ratelimit-requests-remaining': '19',
      'anthropic-ratelimit-requests-reset': new Date(Date.now() + 3_000).toISOString(),
    });
    await pass(1);
    expect(await inForce(one, 'model')).toEqual([20, undefined]);
  });

  it('is seen by every process, and in its metrics, while it holds', async () => {
    const [one, other] = [pod(), pod()];
    const registry = new Registry();
    new LearnedMetrics(places, other.fleet, registry);
    told(one, ONE, { requests: '300' });
    await pass(600);
    await other.fleet.refresh();
    const [own] = places.models;
    const [first] = own === undefined ? [] : places.reachableDeployments(own);
    if (own === undefined || first === undefined) throw new Error('there is no such place');
    expect(other.fleet.limits.lowered(ONE, minuteLimitsOf(places, own, first))).toEqual({ requests: 300 });
    expect(await registry.metrics()).toContain(`coordinator_learned_limit{deployment="${ONE}",unit="requests"} 300\n`);
    await pass(181_000);
    expect(await registry.metrics()).not.toContain('coordinator_learned_limit{');
  });
});
