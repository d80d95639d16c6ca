import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AdmissionService, MemoryAdmissionStore } from '../../../src/admission/index.js';
import { AttemptSequence } from '../../../src/ai/call/attempt.sequence.js';
import { CallGate } from '../../../src/ai/call/call.gate.js';
import type { CompletionCall } from '../../../src/ai/call/completion-call.js';
import type { UpstreamGate } from '../../../src/ai/call/upstream.gate.js';
import { CallQuota } from '../../../src/ai/quota/call.quota.js';
import { QuotaScopes } from '../../../src/ai/quota/quota.scopes.js';
import type { Obstacle } from '../../../src/ai/route/obstacle.js';
import { coolingDown } from '../../../src/ai/route/obstacles.js';
import { type Candidate, RoutePlan } from '../../../src/ai/route/route.plan.js';
import { UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import { pass } from '../../support/pass.js';
import { candidateAt, SequenceBench } from '../../support/sequence-bench.js';
import { VirtualTime } from '../../support/test-time.js';

const REFUSED_FOR_MS = 20_000;
const ANSWER_MS = 50;
const CALLS = 30;
const time = new VirtualTime();

/** A deployment with a limit of ours, whose provider refuses one call for its rate all the same. */
class HeldBench {
  readonly admission = new AdmissionService(new MemoryAdmissionStore(), { graceMs: 0 });
  readonly scopes = new QuotaScopes();
  readonly candidate: Candidate;
  readonly answeredAt: number[] = [];
  /** When the provider was asked for a call. */
  readonly askedAt: number[] = [];
  /** The cooldown, as the fleet knows it. */
  #coolUntil = 0;
  /** How many calls met it after they had been let in. */
  met = 0;

  constructor(private readonly refusesAt: number) {
    const { model, deployment } = candidateAt(0);
    const windows = [{ windowMs: 1_000, requests: 5, guardMs: 0 }];
    this.candidate = { model, deployment: { ...deployment, limits: { windows } } };
  }

  async call(deadlineMs: number): Promise<unknown> {
    const startedAt = performance.now();
    const { call } = new SequenceBench([this.candidate], deadlineMs);
    const plan = new RoutePlan(
      { name: 'small', model: 'small', order: [this.candidate.deployment.id] },
      [this.candidate],
      [],
    );
    const gate = this.#gateFor(call, startedAt + deadlineMs);
    const sequence = new AttemptSequence({ ...call, startedAt }, plan, gate, { sleep: (ms) => pass(ms) });
    return sequence.answer(async () => {
      const quota = gate.take();
      quota.sent();
      try {
        await this.#ask();
        this.answeredAt.push(performance.now());
      } catch (error) {
        gate.failed(this.candidate, error, plan.isOnly(this.candidate));
        throw error;
      } finally {
        await quota.settle({ taken: undefined, isCounted: true });
      }
    });
  }

  async #ask(): Promise<void> {
    this.askedAt.push(performance.now());
    const isRefused = this.askedAt.length === this.refusesAt;
    await pass(ANSWER_MS);
    if (!isRefused) return;
    this.#coolUntil = performance.now() + REFUSED_FOR_MS;
    throw new UpstreamFailure('upstream', 'rate_limit_exceeded', 'at its limit', { retryAfterMs: REFUSED_FOR_MS });
  }

  #gateFor({ caller, signal }: CompletionCall, until: number): CallGate {
    const obstacle = (): Obstacle | undefined => {
      const retryAfterMs = this.#coolUntil - performance.now();
      return retryAfterMs > 0
        ? coolingDown(this.candidate.deployment, { retryAfterMs, code: 'rate_limit_exceeded' })
        : undefined;
    };
    const upstream = {
      obstacleAt: obstacle,
      enter: () => {
        const met = obstacle();
        if (met !== undefined) this.met += 1;
        return Promise.resolve(met);
      },
      forgo: () => undefined,
    };
    const remainingMs = (): number => Math.max(0, until - performance.now());
    const promptTokens = (): Promise<number> => Promise.resolve(1);
    const quotaCall = { caller, signal, remainingMs, promptTokens, maxOutputTokens: 1, choices: 1 };
    return new CallGate(upstream as unknown as UpstreamGate, new CallQuota(quotaCall, this.admission, this.scopes));
  }
}

describe('a refusal for the rate amid calls that wait for room', () => {
  let bench: HeldBench;
  beforeEach(() => {
    time.begin();
    bench = new HeldBench(8);
  });
  afterEach(async () => {
    await bench.admission.close();
    time.end();
  });

  it('holds all of them back until its pause is over, and then every one is answered', async () => {
    const calls = Array.from({ length: CALLS }, () => bench.call(60_000));
    const ends = await Promise.allSettled(calls);
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([]);
    expect(bench.answeredAt).toHaveLength(CALLS);
    // One more was asked than answered: the one that was refused.
    expect(bench.askedAt).toHaveLength(CALLS + 1);
    const refusedAt = (bench.askedAt[7] ?? 0) + ANSWER_MS;
    expect(bench.askedAt.filter((at) => at > refusedAt && at < refusedAt + REFUSED_FOR_MS)).toEqual([]);
    // Nobody's room is used up on a deployment that is left alone, but that of who was let in at that moment.
    expect(bench.met).toBeLessThanOrEqual(5);
  });

  it('has a call whose time is over before the pause refused at once', async () => {
    const patient = Array.from({ length: 9 }, () => bench.call(60_000));
    await pass(3_000);
    const startedAt = performance.now();
    await expect(bench.call(5_000)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    time.expectAtMost(1, startedAt);
    await Promise.all(patient);
  });

  it('holds only what has limits of ours, no longer than a minute', async () => {
    const quota = (): Promise<unknown> => bench.admission.inspect(scope());
    const scope = () => {
      const found = bench.scopes.ofDeployment(bench.candidate.deployment);
      if (found === undefined) throw new Error('it has no limits');
      return found.scope;
    };
    await bench.call(60_000);
    const { call } = new SequenceBench();
    const rest = { ...call, remainingMs: () => 1_000, promptTokens: () => Promise.resolve(1) };
    const held = new CallQuota({ ...rest, maxOutputTokens: 1, choices: 1 }, bench.admission, bench.scopes);
    held.hold(candidateAt(1), 1_000, true);
    held.hold(bench.candidate, 3_600_000, true);
    await pass(10);
    expect(await quota()).toMatchObject({ heldForMs: expect.closeTo(60_000, -2) });
    expect([held.isLimited(bench.candidate), held.isLimited(candidateAt(1))]).toEqual([true, false]);
  });
});
