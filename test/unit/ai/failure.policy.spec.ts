import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  ATTEMPT_RULES,
  type AttemptState,
  mostMeaningful,
  nextStep,
  type NextStep,
} from '../../../src/ai/call/failure.policy.js';
import { type Blame, UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import type { ApiErrorOptions, ErrorCode } from '../../../src/http/index.js';
import { sized } from '../../support/proof-scale.js';

const failure = (blame: Blame, code: ErrorCode, options: ApiErrorOptions = {}): UpstreamFailure =>
  new UpstreamFailure(blame, code, code, options);

const FRESH: AttemptState = {
  attempts: 1,
  attemptsHere: 1,
  remainingMs: 60_000,
  hasSibling: false,
  hasOther: false,
  isOut: false,
};

/** The step after a failure, where the dice show a half. */
const stepAfter = (failed: UpstreamFailure, state: Partial<AttemptState> = {}): NextStep =>
  nextStep(failed, { ...FRESH, ...state }, 0.5);

const SIBLING = { hasSibling: true, hasOther: true };
const OTHER = { hasOther: true };

describe('nextStep()', () => {
  it.each(['invalid_request', 'request_too_large', 'unsupported_media_type', 'unprocessable'] as const)(
    'row 1, row 20: stops at %s, whoever else is left',
    (code) => {
      expect(stepAfter(failure('request', code), SIBLING)).toEqual({ kind: 'stop' });
    },
  );

  it('row 14: looks for a larger window where the prompt was too long, and does not try it here again', () => {
    expect(stepAfter(failure('request', 'context_length_exceeded'))).toEqual({ kind: 'enlarge' });
  });

  it.each(['insufficient_quota', 'upstream_auth'] as const)('row 2: leaves a key at once with %s', (code) => {
    for (const state of [{}, OTHER, SIBLING]) expect(stepAfter(failure('key', code), state)).toEqual({ kind: 'leave' });
  });

  it.each([
    ['upstream_error', {}, 'retry'],
    ['upstream_error', OTHER, 'retry'],
    ['upstream_error', SIBLING, 'retry'],
    ['overloaded', OTHER, 'retry'],
    ['overloaded', SIBLING, 'retry'],
    // Another key has a rate limit of its own.
    ['rate_limit_exceeded', SIBLING, 'leave'],
    ['rate_limit_exceeded', OTHER, 'retry'],
    // Who let its time pass once is not given it again while another could use it.
    ['timeout', OTHER, 'leave'],
    ['timeout', {}, 'retry'],
  ] as const)('after %s with %j left: %s', (code, state, kind) => {
    expect(stepAfter(failure('upstream', code), state).kind).toBe(kind);
  });

  it('leaves a deployment at once where what is asked for is not to be had, whoever is left', () => {
    for (const state of [{}, OTHER, SIBLING, { isOut: true }]) {
      expect(stepAfter(failure('deployment', 'upstream_error', { retryAfterMs: 1 }), state)).toEqual({ kind: 'leave' });
    }
  });

  it('leaves what no second try can change', () => {
    expect(stepAfter(failure('upstream', 'upstream_error', { isRetryable: false }))).toEqual({ kind: 'leave' });
  });

  it('leaves a deployment that was taken out for everybody meanwhile', () => {
    expect(stepAfter(failure('upstream', 'upstream_error'), { isOut: true })).toEqual({ kind: 'leave' });
  });

  it.each([
    [1, 125],
    [2, 250],
    [3, 500],
    [5, 2_000],
    [6, 2_000],
    [20, 2_000],
  ])('waits half of a time that doubles up to its bound: after attempt %d here, %d ms', (attemptsHere, afterMs) => {
    const rules = { ...ATTEMPT_RULES, perDeployment: 100, perRequest: 100 };
    const state = { ...FRESH, attempts: attemptsHere, attemptsHere };
    expect(nextStep(failure('upstream', 'upstream_error'), state, 0.5, rules)).toEqual({ kind: 'retry', afterMs });
  });

  describe('row 4, row 5: obeys Retry-After', () => {
    const asked = (retryAfterMs: number): UpstreamFailure =>
      failure('upstream', 'rate_limit_exceeded', { retryAfterMs });

    it('waits for that long, and a little more', () => {
      expect(stepAfter(asked(1_000))).toEqual({ kind: 'retry', afterMs: 1_125 });
      expect(stepAfter(asked(1_000), { isOut: true })).toEqual({ kind: 'retry', afterMs: 1_125 });
    });

    it('goes to a sibling at once, and to another model where it would take too long', () => {
      expect(stepAfter(asked(1_000), SIBLING)).toEqual({ kind: 'leave' });
      expect(stepAfter(asked(1_000), OTHER).kind).toBe('retry');
      expect(stepAfter(asked(10_001), OTHER)).toEqual({ kind: 'leave' });
    });

    it('does not begin to wait for what is later than the deadline', () => {
      expect(stepAfter(asked(3_600_000))).toEqual({ kind: 'leave' });
      expect(stepAfter(asked(59_999))).toEqual({ kind: 'leave' });
      expect(stepAfter(asked(59_000)).kind).toBe('retry');
    });
  });

  const codes: readonly (readonly [Blame, ErrorCode])[] = [
    ['request', 'invalid_request'],
    ['request', 'context_length_exceeded'],
    ['request', 'unprocessable'],
    ['key', 'insufficient_quota'],
    ['key', 'upstream_auth'],
    ['deployment', 'upstream_error'],
    ['upstream', 'rate_limit_exceeded'],
    ['upstream', 'overloaded'],
    ['upstream', 'upstream_error'],
    ['upstream', 'timeout'],
  ];
  const failures = fc
    .record({
      kind: fc.constantFrom(...codes),
      retryAfterMs: fc.option(fc.nat(7_200_000), { nil: undefined }),
      isRetryable: fc.option(fc.boolean(), { nil: undefined }),
    })
    .map(({ kind: [blame, code], retryAfterMs, isRetryable }) =>
      failure(blame, code, {
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(isRetryable !== undefined && { isRetryable }),
      }),
    );
  const states: fc.Arbitrary<AttemptState> = fc
    .record({
      attempts: fc.integer({ min: 1, max: 12 }),
      attemptsHere: fc.integer({ min: 1, max: 12 }),
      remainingMs: fc.integer({ min: -10, max: 120_000 }),
      hasSibling: fc.boolean(),
      hasOther: fc.boolean(),
      isOut: fc.boolean(),
    })
    .map((state) => ({ ...state, hasOther: state.hasOther || state.hasSibling }));

  it('never goes beyond the budget or the deadline, never tries a request’s or a key’s fault again, never comes too early', () => {
    fc.assert(
      fc.property(failures, states, fc.double({ min: 0, max: 1, noNaN: true }), (failed, state, random) => {
        const step = nextStep(failed, state, random);
        const isSpent = state.attempts >= ATTEMPT_RULES.perRequest || state.remainingMs <= 0;
        if (isSpent) expect(step.kind).toBe('stop');
        if (failed.blame === 'request') expect(['stop', 'enlarge']).toContain(step.kind);
        if (step.kind === 'enlarge') expect(failed.code).toBe('context_length_exceeded');
        if (step.kind !== 'retry') return;
        expect(failed.blame).toBe('upstream');
        expect(failed.isRetryable).not.toBe(false);
        expect(state.attemptsHere).toBeLessThan(ATTEMPT_RULES.perDeployment);
        expect(step.afterMs).toBeGreaterThanOrEqual(failed.retryAfterMs ?? 0);
        expect(step.afterMs - (failed.retryAfterMs ?? 0)).toBeLessThanOrEqual(ATTEMPT_RULES.longestBackoffMs);
        expect(step.afterMs).toBeLessThan(state.remainingMs);
      }),
      { numRuns: sized(1_000, 100_000) },
    );
  });
});

describe('mostMeaningful()', () => {
  it.each([
    [['upstream_auth', 'insufficient_quota'], 'upstream_auth'],
    [['upstream_error', 'upstream_auth'], 'upstream_error'],
    [['upstream_error', 'timeout'], 'timeout'],
    [['overloaded', 'timeout', 'upstream_error'], 'overloaded'],
    [['rate_limit_exceeded', 'overloaded'], 'rate_limit_exceeded'],
    [['context_length_exceeded', 'rate_limit_exceeded', 'overloaded'], 'context_length_exceeded'],
    [['upstream_error', 'invalid_request'], 'invalid_request'],
  ])('of %j tells %s, in any order', (codes, told) => {
    fc.assert(
      fc.property(fc.shuffledSubarray(codes, { minLength: codes.length }), (shuffled) => {
        expect(mostMeaningful(shuffled.map((code) => ({ code })))).toEqual({ code: told });
      }),
    );
  });

  it('of equals takes the later, and of none none', () => {
    const [first, second] = [{ code: 'timeout' }, { code: 'timeout' }];
    expect(mostMeaningful([first, second])).toBe(second);
    expect(mostMeaningful(new Array<typeof first>())).toBeUndefined();
  });
});
