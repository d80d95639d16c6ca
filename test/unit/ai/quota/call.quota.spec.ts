import { afterEach, describe, expect, it } from '@jest/globals';
import { AdmissionService, MemoryAdmissionStore } from '../../../../src/admission/index.js';
import { CallQuota } from '../../../../src/ai/quota/call.quota.js';
import { QuotaScopes } from '../../../../src/ai/quota/quota.scopes.js';
import type { Candidate } from '../../../../src/ai/route/route.plan.js';
import { candidateAt } from '../../../support/sequence-bench.js';
import { UnreliableAdmission } from '../../../support/unreliable-admission.js';

const [first, other] = [0, 1].map((at): Candidate => {
  const { model, deployment } = candidateAt(at);
  return { model, deployment: { ...deployment, limits: { concurrency: 2 } } };
});
if (first === undefined || other === undefined) throw new Error('there are two candidates');

/** One call of a caller with limits and a budget. */
class QuotaBench {
  readonly way = new UnreliableAdmission(new MemoryAdmissionStore());
  readonly admission = new AdmissionService(this.way, { graceMs: 0 });
  readonly scopes = new QuotaScopes();
  readonly quota = new CallQuota(
    {
      caller: {
        ...{ id: 'acme', tier: 'enterprise', scopes: ['chat'], weight: 1 },
        ...{ limits: { rpm: 10 }, budget: { usdPerDay: 100, hard: false } },
      },
      ...{ maxOutputTokens: 10, choices: 1, promptTokens: () => Promise.resolve(10) },
      ...{ remainingMs: () => 10_000, signal: new AbortController().signal },
    },
    this.admission,
    this.scopes,
  );

  async openAt({ deployment }: Candidate): Promise<number> {
    const scope = this.scopes.ofDeployment(deployment)?.scope;
    return scope === undefined ? Number.NaN : (await this.admission.inspect(scope)).open;
  }
}

let bench: QuotaBench;
afterEach(() => bench.admission.close());

describe('CallQuota', () => {
  it('takes a call and its first attempt into all their limits by the same moment', async () => {
    bench = new QuotaBench();
    await bench.quota.enter(first, true);
    expect(bench.way.calls.acquire).toBe(3);
    const attempt = await bench.quota.attempt(first, 1_000);
    expect(bench.way.calls.acquire).toBe(3);
    expect(bench.quota.usage).toMatchObject([{ requests: 1, requestLimit: 10 }]);
    attempt.sent();
    await Promise.all([attempt.settle({ taken: undefined, isCounted: true }), bench.quota.end(10)]);
    expect([await bench.openAt(first), bench.way.calls.settle]).toEqual([0, 3]);
  });

  it('gives back what was taken for the first where another one is asked instead', async () => {
    bench = new QuotaBench();
    await bench.quota.enter(first, true);
    const attempt = await bench.quota.attempt(other, 1_000);
    expect([await bench.openAt(first), await bench.openAt(other)]).toEqual([0, 1]);
    await attempt.cancel();
    await bench.quota.end(0);
  });

  it.each([
    [
      'nobody can be asked',
      (quota: CallQuota) => {
        quota.forgo();
      },
    ],
    ['it ends before', (quota: CallQuota) => void quota.end(0)],
  ])('gives it back where %s', async (_title, leave) => {
    bench = new QuotaBench();
    await bench.quota.enter(first, true);
    expect(await bench.openAt(first)).toBe(1);
    leave(bench.quota);
    expect(await bench.openAt(first)).toBe(0);
    await bench.quota.end(0);
  });

  it('goes from one limit to the next where something stands against the first attempt', async () => {
    bench = new QuotaBench();
    await bench.quota.enter(first, false);
    expect(bench.way.calls.acquire).toBe(1);
    await bench.quota.end(0);
  });
});
