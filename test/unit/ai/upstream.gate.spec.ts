import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpService } from '@nestjs/axios';
import { Registry } from 'prom-client';
import { Attempt } from '../../../src/ai/call/attempt.js';
import { parseChatRequest } from '../../../src/ai/call/chat-request.js';
import { CompletionObserver } from '../../../src/ai/call/completion.observer.js';
import { ATTEMPT_RULES } from '../../../src/ai/call/failure.policy.js';
import { AttemptQuota } from '../../../src/ai/quota/attempt.quota.js';
import { UpstreamGate } from '../../../src/ai/call/upstream.gate.js';
import { Fleet } from '../../../src/ai/fleet/index.js';
import { MemoryFleetStore } from '../../../src/ai/fleet/memory-fleet.store.js';
import { KeyService } from '../../../src/ai/keys/key.service.js';
import type { Candidate } from '../../../src/ai/route/route.plan.js';
import { type Blame, UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import type { ErrorCode } from '../../../src/http/index.js';
import { createLogger } from '../../../src/observability/index.js';
import { candidateAt, places, SequenceBench } from '../../support/sequence-bench.js';

const BROKEN = new UpstreamFailure('upstream', 'upstream_error', 'broken');

/** Of a call that nothing limits. */
const NO_LIMITS = new AttemptQuota({ outputTokens: 0, tokens: 0, microUsd: 0 }, []);

describe('UpstreamGate', () => {
  let fleet: Fleet;
  let gate: UpstreamGate;
  let wallMs: number;
  const one = candidateAt(0);

  beforeEach(() => {
    wallMs = 1_764_421_836_000;
    fleet = new Fleet({
      store: new MemoryFleetStore(() => wallMs * 1_000),
      deployments: places.deployments().map(({ id, upstream }) => ({ id, key: upstream.keyId })),
      models: places.models.map(({ name, timeouts }) => ({ name, firstTokenMs: timeouts.firstTokenMs })),
      time: { monotonic: () => wallMs + performance.now(), wall: () => wallMs },
    });
    const logger = createLogger({ level: 'silent', secrets: [] }, { write: () => undefined });
    const keys = new KeyService(new HttpService(), places, fleet, logger);
    const observer = new CompletionObserver(new Registry(), logger);
    const options = {
      models: [],
      providers: [],
      tiers: { free: [], pro: [], enterprise: [] },
      attempts: ATTEMPT_RULES,
      cache: { maxBytes: 1_024, maxEntryBytes: 1_024, idempotencyMs: 60_000 },
      ledger: { keepMs: 86_400_000 },
      requestDeadlineMs: 9_000,
    };
    gate = new UpstreamGate(fleet, keys, observer, options);
  });
  afterEach(() => fleet.close());

  function attemptAt(candidate: Candidate, totalMs = 60_000): Attempt {
    const attempt = new Attempt(
      new SequenceBench().call,
      { candidate, quota: NO_LIMITS },
      { provider: candidate.deployment.provider, totalMs, idleMs: 1_000 },
      () => undefined,
    );
    // The clocks are their own spec's matter.
    attempt.timers.stop();
    return attempt;
  }

  const failWith = (blame: Blame, code: ErrorCode, times = 3): void => {
    for (let time = 0; time < times; time += 1) {
      gate.failed(attemptAt(one), new UpstreamFailure(blame, code, code));
    }
  };

  it('closes after three failures of the upstream, for all of its calls', async () => {
    failWith('upstream', 'upstream_error', 2);
    expect(gate.obstacleAt(one)).toBeUndefined();
    failWith('upstream', 'upstream_error', 1);
    expect(gate.obstacleAt(one)).toMatchObject({ detour: 'cooldown', error: { code: 'overloaded' } });
    expect(await gate.enter(one)).toMatchObject({ error: { retryAfterMs: expect.any(Number) } });
    expect(gate.obstacleAt(candidateAt(1))).toBeUndefined();
  });

  it('holds neither the request’s faults nor a caller’s leaving against a provider', () => {
    failWith('request', 'invalid_request', 5);
    for (let time = 0; time < 5; time += 1) gate.abandoned(attemptAt(one));
    expect(gate.obstacleAt(one)).toBeUndefined();
  });

  it('takes a key out that is used up or refused, and says which', () => {
    failWith('key', 'insufficient_quota', 1);
    expect(gate.obstacleAt(one)).toMatchObject({ detour: 'quota', error: { code: 'insufficient_quota' } });
    failWith('key', 'upstream_auth', 1);
    expect(gate.obstacleAt(one)).toMatchObject({ detour: 'error', error: { code: 'upstream_auth' } });
  });

  it('takes a request from the key’s quota for every attempt, and tokens as soon as the provider has counted them', () => {
    const { call } = new SequenceBench();
    const key = one.deployment.upstream.keyId;
    const left = (unit: 'requests' | 'tokens' | 'usd', spend: () => void): number | undefined => {
      fleet.keys.checked(key, { tier: 'pro', remaining: 100, unit });
      spend();
      return fleet.keys.worthOf(key)?.remaining;
    };
    const attempt = (): void => {
      const begun = gate.begin({ candidate: one, remainingMs: 5_000, isLast: true }, call, NO_LIMITS);
      begun.timers.stop();
      gate.failed(begun, new UpstreamFailure('request', 'invalid_request', 'refused'));
    };
    const bill = (): void => {
      gate.billed(one, { promptTokens: 30, completionTokens: 12 }, 0.5);
    };
    expect([left('requests', attempt), left('tokens', attempt), left('usd', attempt)]).toEqual([99, 100, 100]);
    expect([left('requests', bill), left('tokens', bill), left('usd', bill)]).toEqual([100, 58, 99.5]);
  });

  it('counts an attempt as untold until its answer is heard, or it is over', () => {
    const { call } = new SequenceBench();
    const need = { requests: 1, promptTokens: 0, outputTokens: 0, costUsd: 0 };
    const { id } = one.deployment;
    const headers = {
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '2',
      'x-ratelimit-reset-requests': '30s',
    };
    gate.heard(one.deployment, headers);
    expect(fleet.isNearlyUsed(id, need)).toBe(false);
    const [first, second] = [1, 2].map(() =>
      gate.begin({ candidate: one, remainingMs: 5_000, isLast: true }, call, NO_LIMITS),
    );
    first?.timers.stop();
    expect(fleet.isNearlyUsed(id, need)).toBe(true);
    second?.request.heard({});
    expect(fleet.isNearlyUsed(id, need)).toBe(false);
    second?.timers.stop();
  });

  describe('row 11: once the outage may be over', () => {
    let straggler: Attempt;

    beforeEach(async () => {
      straggler = attemptAt(one);
      failWith('upstream', 'upstream_error');
      await fleet.standings.line.flush();
      wallMs += 6_000;
    });

    it('lets one call pass, and the others when it has succeeded', async () => {
      expect(await gate.enter(one)).toBeUndefined();
      expect(await gate.enter(one)).toMatchObject({ detour: 'cooldown' });
      gate.completed(attemptAt(one), undefined);
      expect(await gate.enter(one)).toBeUndefined();
      expect(await gate.enter(one)).toBeUndefined();
    });

    it('lets another one pass where the first was abandoned, or was forgone', async () => {
      expect(await gate.enter(one)).toBeUndefined();
      gate.abandoned(attemptAt(one));
      await fleet.standings.line.flush();
      expect(await gate.enter(one)).toBeUndefined();
      gate.forgo(one);
      await fleet.standings.line.flush();
      expect(await gate.enter(one)).toBeUndefined();
    });

    it('does not take the end of an older call for the end of the probe', async () => {
      expect(await gate.enter(one)).toBeUndefined();
      gate.abandoned(straggler);
      gate.failed(straggler, new UpstreamFailure('request', 'invalid_request', 'refused'));
      await fleet.standings.line.flush();
      expect(await gate.enter(one)).toMatchObject({ detour: 'cooldown' });
    });

    it('closes again, for longer, where the probe fails', async () => {
      expect(await gate.enter(one)).toBeUndefined();
      gate.failed(attemptAt(one), BROKEN);
      await fleet.standings.line.flush();
      wallMs += 9_000;
      expect(await gate.enter(one)).toMatchObject({ detour: 'cooldown' });
      wallMs += 1_100;
      expect(await gate.enter(one)).toBeUndefined();
    });
  });

  it('row 46: gives the last candidate all the time that is left, and the others their own', () => {
    const call = new SequenceBench().call;
    const turn = { candidate: one, remainingMs: 7_000 };
    expect(gate.limitsOf({ ...turn, isLast: true }, call)).toEqual({
      provider: 'one',
      totalMs: 7_000,
      idleMs: 1_000,
    });
    const body = { model: 'small', messages: [{ role: 'user' }], stream: true };
    const stream = { ...call, request: parseChatRequest(body, JSON.stringify(body)) };
    expect(gate.limitsOf({ ...turn, isLast: false }, stream)).toMatchObject({ totalMs: 7_000, firstTokenMs: 1_000 });
    // A first token, and then the 100 tokens that the model may write, at 20 a second.
    const early = { ...turn, remainingMs: 20_000, isLast: false };
    expect(gate.limitsOf(early, call)).toMatchObject({ firstTokenMs: 6_000 });
    // Whoever takes over has the other half of what is left.
    expect(gate.limitsOf({ ...turn, isLast: false }, call)).toMatchObject({ firstTokenMs: 3_500 });
  });
});
