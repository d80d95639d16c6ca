import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { nextStep } from '../../../src/ai/call/failure.policy.js';
import {
  classifyAnswer,
  classifyInBand,
  hasError,
  uselessAnswer,
} from '../../../src/ai/upstream/failure.classifier.js';
import { sized } from '../../support/proof-scale.js';

const acme = { name: 'acme', apiKey: 'acme-key-1' };
const answer = (status: number, body: unknown, headers = {}) => ({ provider: acme, status, headers, body, now: 0 });

describe('classifyAnswer()', () => {
  it.each([
    [
      400,
      { error: { message: 'bad', type: 'invalid_request_error', param: 'tools', code: 'invalid_value' } },
      'request',
      'invalid_request',
    ],
    [400, { error: { message: 'long', code: 'context_length_exceeded' } }, 'request', 'context_length_exceeded'],
    [413, '', 'request', 'request_too_large'],
    [415, '', 'request', 'unsupported_media_type'],
    [422, { error: 'no' }, 'request', 'unprocessable'],
    [401, { error: { message: 'Incorrect API key provided: sk-secret' } }, 'key', 'upstream_auth'],
    [403, {}, 'key', 'upstream_auth'],
    [402, {}, 'key', 'insufficient_quota'],
    [429, { error: { code: 'insufficient_quota' } }, 'key', 'insufficient_quota'],
    [429, { error: { type: 'insufficient_quota', code: 'credit_balance_exhausted' } }, 'key', 'insufficient_quota'],
    [429, { error: { code: 'project_spend_limit_exceeded' } }, 'key', 'insufficient_quota'],
    [429, { error: { code: 'rate_limit_exceeded' } }, 'upstream', 'rate_limit_exceeded'],
    [429, { error: { message: 'INSUFFICIENT QUOTA' } }, 'upstream', 'rate_limit_exceeded'],
    [404, { error: { code: 'model_not_found' } }, 'deployment', 'upstream_error'],
    [403, { error: { code: 'model_not_found' } }, 'deployment', 'upstream_error'],
    [400, { error: { code: 'model_not_found', type: 'invalid_request_error' } }, 'deployment', 'upstream_error'],
    [403, { error: { code: 'content_policy_violation', message: 'flagged' } }, 'request', 'invalid_request'],
    [403, { error: { code: 403, metadata: { reasons: ['hate'] } } }, 'request', 'invalid_request'],
    [403, { error: { code: 403, metadata: { provider_name: 'X' } } }, 'deployment', 'upstream_error'],
    [403, { error: { code: 403, message: 'Key limit exceeded' } }, 'key', 'upstream_auth'],
    [400, [{ error: { code: 400, status: 'INVALID_ARGUMENT', message: 'no' } }], 'request', 'invalid_request'],
    [400, [{ error: { code: 400, status: 'FAILED_PRECONDITION' } }], 'deployment', 'upstream_error'],
    [500, 'boom', 'upstream', 'upstream_error'],
    [502, '<html>', 'upstream', 'upstream_error'],
    [503, {}, 'upstream', 'overloaded'],
    [529, {}, 'upstream', 'overloaded'],
    [504, {}, 'upstream', 'timeout'],
  ])('%d %j: blames the %s with %s', (status, body, blame, code) => {
    expect(classifyAnswer(answer(status, body))).toMatchObject({ blame, code });
  });

  it('passes the words, the code and the param of a refusal of the request on', () => {
    const body = { error: { message: 'Invalid schema', param: 'response_format', code: 'invalid_schema' } };
    expect(classifyAnswer(answer(400, body))).toMatchObject({
      message: 'Invalid schema',
      param: 'response_format',
      reportedCode: 'invalid_schema',
    });
  });

  it.each([
    [403, { error: { code: 'model_not_found' } }],
    [404, {}],
    [400, { error: { status: 'FAILED_PRECONDITION' } }],
    [403, { error: { code: 403, metadata: { provider_name: 'X' } } }],
  ])('does not ask the same model again that it may not use there: %d %j', (status, body) => {
    expect(classifyAnswer(answer(status, body)).blame).toBe('deployment');
  });

  it('tells a prompt that a moderator refused by its code, with the words and without what it flagged', () => {
    const error = {
      code: 403,
      message: 'Your input was flagged',
      metadata: { reasons: ['hate'], flagged_input: 'I …' },
    };
    const failure = classifyAnswer(answer(403, { error }));
    expect(failure).toMatchObject({ reportedCode: 'content_filter', message: 'Your input was flagged' });
  });

  it('never passes on what a provider says of the credentials', () => {
    const failure = classifyAnswer(answer(401, { error: { message: 'Incorrect API key provided: sk-secret' } }));
    expect(failure.message).not.toContain('sk-secret');
  });

  it('takes the key out of the words that it does pass on', () => {
    const quoted = `key ${acme.apiKey}!`;
    const failure = classifyAnswer(answer(400, { error: { message: quoted, param: quoted, code: quoted } }));
    expect([failure.message, failure.param, failure.reportedCode]).toEqual([
      'key [redacted]!',
      'key [redacted]!',
      'invalid_request',
    ]);
    expect(classifyAnswer(answer(422, { error: quoted })).message).toBe('key [redacted]!');
  });

  it('lets neither a page of HTML through as a message, nor anything but a word as a code', () => {
    const page = classifyAnswer(answer(400, undefined));
    expect(page.message).toBe('acme refused the request');
    const long = classifyAnswer(answer(400, { error: { message: 'm', code: 'a b', param: 'p'.repeat(5_000) } }));
    expect([long.reportedCode, long.param]).toEqual(['invalid_request', 'p'.repeat(200)]);
  });

  it.each([
    [400, { error: { message: 'too much', code: 400, type: 'exceed_context_size_error', n_ctx: 256 } }],
    [500, { error: { message: 'too much', code: 500, type: 'exceed_context_size_error', n_ctx: 256 } }],
    [400, { error: { message: 'This model’s window is smaller', code: 'context_length_exceeded' } }],
  ])(
    'row 14: knows a prompt that is too long by its code, whatever the words and the status: %d %j',
    (status, body) => {
      expect(classifyAnswer(answer(status, body))).toMatchObject({
        blame: 'request',
        code: 'context_length_exceeded',
        reportedCode: 'context_length_exceeded',
      });
    },
  );

  it('row 14: knows it by the words that the configuration gives, and tells it by the code that clients know', () => {
    const body = { error: { message: 'E1042: zu viele Token', code: 'E1042' } };
    expect(classifyAnswer(answer(400, body))).toMatchObject({ code: 'invalid_request', reportedCode: 'E1042' });
    const provider = { ...acme, contextErrorPatterns: /zu viele token/i };
    const known = classifyAnswer({ ...answer(400, body), provider });
    expect(known).toMatchObject({ code: 'context_length_exceeded', reportedCode: 'context_length_exceeded' });
    expect(classifyAnswer({ ...answer(500, body), provider }).code).toBe('upstream_error');
  });

  it('does not take a status for a code', () => {
    expect(classifyAnswer(answer(400, { error: { message: 'no', code: 400 } })).reportedCode).toBe('invalid_request');
    expect(classifyAnswer(answer(422, { error: { message: 'no', code: '422' } })).reportedCode).toBe('unprocessable');
  });

  it('keeps the wait that the provider asks for', () => {
    expect(classifyAnswer(answer(429, {}, { 'retry-after': '7' })).retryAfterMs).toBe(7_000);
  });

  it('keeps no wait beyond an hour, however it is said', () => {
    const asked = fc.integer({ min: 0, max: 40_000_000_000 });
    fc.assert(
      fc.property(asked, fc.constantFrom(429, 500, 502, 503, 504, 529), (ms, status) => {
        const told = Math.min(ms, 3_600_000);
        const header = answer(status, {}, { 'retry-after-ms': String(ms) });
        expect(classifyAnswer(header).retryAfterMs).toBe(told);
        expect(classifyAnswer({ ...answer(status, {}), toldMs: ms }).retryAfterMs).toBe(told);
      }),
      { numRuns: sized(200, 5_000) },
    );
  });
});

describe('classifyAnswer(), of every status that a provider can refuse with', () => {
  const KEYS: Readonly<Record<number, string>> = {
    401: 'upstream_auth',
    402: 'insufficient_quota',
    403: 'upstream_auth',
  };
  const REQUESTS = [400, 413, 415, 422];
  const PASSING = [408, 409, 429];
  const LASTING = [501, 505, 506, 508, 510, 511];
  const CODES: Readonly<Record<number, string>> = {
    408: 'timeout',
    429: 'rate_limit_exceeded',
    503: 'overloaded',
    504: 'timeout',
    529: 'overloaded',
  };
  const FRESH = { attempts: 1, attemptsHere: 1, remainingMs: 60_000, hasSibling: false, hasOther: false, isOut: false };

  const expectedOf = (status: number): { readonly blame: string; readonly step: string } => {
    if (REQUESTS.includes(status)) return { blame: 'request', step: 'stop' };
    if (status in KEYS) return { blame: 'key', step: 'leave' };
    const mayPass = PASSING.includes(status) || (status >= 500 && !LASTING.includes(status));
    return mayPass ? { blame: 'upstream', step: 'retry' } : { blame: 'deployment', step: 'leave' };
  };

  it.each(Array.from({ length: 300 }, (_, index) => 300 + index))('row 1: %d', (status) => {
    for (const body of [undefined, {}, { error: { message: 'no' } }]) {
      const failure = classifyAnswer(answer(status, body, { 'retry-after': '1' }));
      const { blame, step } = expectedOf(status);
      expect(failure.blame).toBe(blame);
      expect(nextStep(failure, FRESH, 0.5).kind).toBe(step);
      if (blame === 'deployment') expect(failure.code).toBe('upstream_error');
      if (blame === 'upstream') expect(failure.code).toBe(CODES[status] ?? 'upstream_error');
      if (blame === 'key') expect(failure.code).toBe(KEYS[status]);
      // A client that reads it does not begin anew what was tried here, but for a rate limit.
      const isFinal = (blame === 'deployment' || blame === 'upstream') && status !== 429;
      if (isFinal) expect(failure.afterAllAttempts().isRetryable).toBe(false);
    }
  });
});

describe('uselessAnswer()', () => {
  it('is left for another deployment, never asked for here again, and told as 502', () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    const failure = uselessAnswer('acme', 'called a tool that is none', usage);
    expect(failure).toMatchObject({ blame: 'deployment', code: 'upstream_error', usage });
    expect(failure.message).toBe('acme called a tool that is none');
    expect(failure.afterAllAttempts().isRetryable).toBe(false);
  });
});

describe('classifyInBand()', () => {
  it.each([
    [{ error: { message: 'x', code: 429 } }, 'rate_limit_exceeded'],
    [{ error: { message: 'x', code: '503' } }, 'overloaded'],
    [{ error: { type: 'overloaded_error' } }, 'overloaded'],
    [{ error: { type: 'server_error' } }, 'upstream_error'],
    [{ error: { code: 'model_not_found', type: 'invalid_request_error' } }, 'upstream_error'],
    [{ error: 'text' }, 'upstream_error'],
    [{ error: { type: 'exceed_context_size_error', code: 500 } }, 'context_length_exceeded'],
    [{ error: { type: 'exceed_context_size_error' } }, 'context_length_exceeded'],
    [
      { error: { code: 400, message: "This model's maximum context length is 8192 tokens." } },
      'context_length_exceeded',
    ],
    [{ error: { type: 'invalid_request_error', code: 'context_length_exceeded' } }, 'context_length_exceeded'],
  ])('reads %j as %s', (body, code) => {
    expect(classifyInBand(acme, body, 0).code).toBe(code);
  });
});

describe('hasError()', () => {
  it.each([{ error: { message: 'x' } }, { error: 'x' }])('sees one in %j', (value) => {
    expect(hasError(value)).toBe(true);
  });

  it.each([undefined, 'x', [], {}, { error: null }, { error: false }, { error: '' }, { error: {} }])(
    'sees none in %j',
    (value) => {
      expect(hasError(value)).toBe(false);
    },
  );
});
