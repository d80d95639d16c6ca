import { afterEach, describe, expect, it } from '@jest/globals';
import { MODEL, OTHER, QuotaRig, type QuotaRigOptions, statuses } from '../support/quota-rig.js';

let rig: QuotaRig;
const start = async (options: QuotaRigOptions): Promise<void> => {
  rig = await QuotaRig.start(options);
};
afterEach(() => rig.close());

/** Less than what is left of a minute. */
const NOW = { 'x-coordinator-timeout-ms': '10000' };

describe('limits of a model', () => {
  it('let in what fits, and answer the rest with the rule and the wait', async () => {
    await start({ models: { [MODEL]: { limits: { rpm: 3 } } } });
    await rig.judge.limit({ [MODEL]: 'rpm=3' });
    const answers = await rig.askAll(5, { headers: NOW });
    expect(statuses(answers)).toEqual([200, 200, 200, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body['error']).toMatchObject({ code: 'rate_limit_exceeded', type: 'rate_limit_error' });
    expect(refused?.text).toContain('3 requests in 60 s');
    const retryAfter = Number(refused?.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(61);
    expect((await rig.books()).refused).toEqual({ requests: 0, tokens: 0, concurrency: 0 });
  });

  it('make calls wait for room that comes in time, first come, first served', async () => {
    await start({ models: { [MODEL]: { limits: { windows: [{ windowMs: 1_000, requests: 2 }] } } } });
    // A machine that runs other things beside makes the way longer than the guard.
    await rig.judge.limit({ [MODEL]: 'requests=2/0.5s' });
    const answers = await rig.askAll(5);
    expect(statuses(answers)).toEqual([200, 200, 200, 200, 200]);
    const waits = answers.map(({ headers }) => Number(headers.get('x-coordinator-queue-ms')));
    expect(waits.filter((ms) => ms >= 900)).toHaveLength(3);
    const { refused, windows } = await rig.books();
    expect(refused).toEqual({ requests: 0, tokens: 0, concurrency: 0 });
    expect(windows[0]?.requests.most).toBe(2);
  });

  it('row 21: five calls of 50 tokens at once stay within 200 tokens a minute', async () => {
    await start({ models: { [MODEL]: { limits: { tpm: 200 } } } });
    await rig.judge.limit({ [MODEL]: 'tpm=200,rule=safe' });
    const answers = await rig.askAll(5, { body: { max_tokens: 50 }, headers: NOW });
    expect(statuses(answers)).toEqual([200, 200, 429, 429, 429]);
    const { refused, windows } = await rig.books();
    expect(refused.tokens).toBe(0);
    expect(windows[0]?.tokens.most).toBeLessThanOrEqual(200);
  });

  it('refuse at once, and for good, what is more than the limit', async () => {
    await start({ models: { [MODEL]: { limits: { tpm: 100 } } } });
    const answer = await rig.ask({ body: { max_tokens: 500 } });
    expect(answer.status).toBe(429);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(answer.text).toContain('100 tokens in 60 s');
  });

  it('take an answer without max_tokens for what is expected, at most for what the limit leaves', async () => {
    await start({ models: { [MODEL]: { limits: { tpm: 300 } } } });
    expect((await rig.ask()).status).toBe(200);
  });

  it('let as many calls run at a time as there are slots', async () => {
    await start({ models: { [MODEL]: { limits: { concurrency: 2 } } } });
    await rig.judge.limit({ [MODEL]: 'concurrency=2' });
    // Long enough for another one to come, also on a busy machine.
    await rig.judge.script({ delayMs: 1_000, times: 2 });
    expect(statuses(await rig.askAll(12))).toEqual(Array.from({ length: 12 }, () => 200));
    const { peakInFlight, refused } = await rig.books();
    expect(peakInFlight).toBe(2);
    expect(refused.concurrency).toBe(0);
  });

  it('row 25: give the slots of streams back whose readers have left', async () => {
    await start({ models: { [MODEL]: { limits: { concurrency: 3 } } } });
    for (let round = 0; round < 3; round += 1) {
      await rig.judge.script(...Array.from({ length: 3 }, () => ({ stallAfterFrames: 2, stallMs: 60_000 })));
      const leaving = new AbortController();
      const streams = await Promise.all(
        [1, 2, 3].map(() => rig.send({ body: { stream: true }, signal: leaving.signal })),
      );
      expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
      leaving.abort();
      await Promise.allSettled(streams.map((stream) => stream.text()));
      expect(statuses(await rig.askAll(3))).toEqual([200, 200, 200]);
    }
  });

  it('turn to a fallback that has room, and say why; a strict call waits instead', async () => {
    const limits = { limits: { windows: [{ windowMs: 2_500, requests: 1 }] }, fallbacks: [OTHER] };
    await start({ models: { [MODEL]: limits } });
    const [first, second] = [await rig.ask(), await rig.ask()];
    expect(first.headers.get('x-coordinator-model')).toBe(MODEL);
    expect([second.headers.get('x-coordinator-model'), second.headers.get('x-coordinator-route')]).toEqual([
      OTHER,
      'busy',
    ]);
    const strict = await rig.ask({ headers: { 'x-coordinator-strict': 'true' } });
    expect(strict.headers.get('x-coordinator-model')).toBe(MODEL);
    expect(Number(strict.headers.get('x-coordinator-queue-ms'))).toBeGreaterThan(0);
  });

  it('wait for the model itself where the fallbacks have no room either', async () => {
    const limits = { windows: [{ windowMs: 2_500, requests: 1 }] };
    await start({ models: { [MODEL]: { limits, fallbacks: [OTHER] }, [OTHER]: { limits } } });
    const answers = [await rig.ask(), await rig.ask(), await rig.ask()];
    expect(answers.map(({ headers }) => headers.get('x-coordinator-model'))).toEqual([MODEL, OTHER, MODEL]);
  });
});

describe('a wait for room that lasts until the deadline', () => {
  it('is answered with the rule and the wait, not as a timeout', async () => {
    await start({ models: { [MODEL]: { limits: { concurrency: 1 } } } });
    await rig.judge.script({ delayMs: 3_000 });
    const first = rig.ask();
    await rig.judge.statsWhen(({ inFlight }) => inFlight === 1);
    const second = await rig.ask({ headers: { 'x-coordinator-timeout-ms': '1500' } });
    expect([second.status, second.body['error']]).toMatchObject([429, { code: 'rate_limit_exceeded' }]);
    expect(second.headers.get('retry-after')).not.toBeNull();
    expect((await first).status).toBe(200);
  });
});

describe('limits of a caller', () => {
  it('hold for the caller alone, and are told in every answer', async () => {
    await start({ callers: { one: { limits: { rpm: 2 } }, two: { limits: { rpm: 2, tpm: 100_000 } } } });
    const answers = await rig.askAll(3, { caller: 'one', headers: NOW });
    expect(statuses(answers)).toEqual([200, 200, 429]);
    const other = await rig.ask({ caller: 'two' });
    expect(other.status).toBe(200);
    expect(other.headers.get('x-ratelimit-limit-requests')).toBe('2');
    expect(other.headers.get('x-ratelimit-remaining-requests')).toBe('1');
    expect(other.headers.get('x-ratelimit-reset-requests')).toMatch(/^(60|5\d)s$/);
    expect(other.headers.get('x-ratelimit-limit-tokens')).toBe('100000');
  });
});

describe('budgets', () => {
  it('row 29: sixteen calls at once cannot spend more than there is', async () => {
    // A call reserves at most (prompt + 16) * 2 + 1,000 * 8 micro-dollars: three of them fit.
    await start({ callers: { one: { budget: { usdPerDay: 0.0255, hard: true } } } });
    // Slow enough that all are under way at one time.
    await rig.judge.script({ delayMs: 2_000, times: 16 });
    const answers = await rig.askAll(16, { caller: 'one', body: { max_tokens: 1_000 } });
    const admitted = statuses(answers).filter((status) => status === 200).length;
    expect(admitted).toBe(3);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body['error']).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' });
    expect(refused?.headers.get('x-should-retry')).toBe('false');
    expect((await rig.books()).admitted).toBe(3);
    await expectAtRest('one');
  });

  it('row 31: settle what was reserved exactly once, on every way out', async () => {
    await start({ callers: { one: { budget: { usdPerDay: 5, usdPerMonth: 50, tokensPerDay: 9_000_000 } } } });
    const bad = [{ status: 500 }, { status: 400 }, { garbageBody: true }];
    await rig.judge.script(...bad.flatMap((each) => [each, each]));
    for (let left = bad.length; left > 0; left -= 1) await rig.ask({ caller: 'one' });
    await rig.askAll(4, { caller: 'one' });
    const leaving = new AbortController();
    const stream = await rig.send({ caller: 'one', body: { stream: true }, signal: leaving.signal });
    leaving.abort();
    await stream.text().catch(() => undefined);
    await expectAtRest('one');
    const { billed } = await rig.books();
    const [usd] = (await rig.usage('one')).budgets;
    const bill = (billed.promptTokens * 2 + billed.completionTokens * 8) / 1_000_000;
    expect(usd?.spent).toBeGreaterThanOrEqual(Number(bill.toFixed(6)));
  });

  it('row 15: a fallback that costs is not called on an empty budget, the free model is', async () => {
    const free = { deployments: [{ provider: 'judge', model: MODEL, prices: { input: 0, output: 0 } }] };
    await start({
      models: { [MODEL]: { ...free, fallbacks: [OTHER] } },
      callers: { one: { budget: { usdPerDay: 0, hard: true } } },
    });
    expect((await rig.ask({ caller: 'one' })).status).toBe(200);
    await rig.judge.script({ status: 500 }, { status: 500 });
    const answer = await rig.ask({ caller: 'one' });
    expect([answer.status, answer.body['error']]).toMatchObject([429, { code: 'insufficient_quota' }]);
    const stats = await rig.judge.stats();
    expect(stats.requests.byModel[OTHER] ?? 0).toBe(0);
  });

  it('rows 60 and 61: what has no price is closed to a hard budget, and is not taken for free', async () => {
    const unpriced = { deployments: [{ provider: 'judge', model: MODEL }] };
    await start({
      models: { [MODEL]: unpriced },
      callers: { one: { budget: { usdPerDay: 5, hard: true } }, two: { budget: { usdPerDay: 5 } } },
    });
    const answer = await rig.ask({ caller: 'one' });
    expect([answer.status, answer.body['error']]).toMatchObject([403, { code: 'model_not_allowed' }]);
    expect((await rig.ask({ caller: 'two' })).status).toBe(200);
  });

  it('put max_tokens into each call of a caller with a hard budget', async () => {
    await start({
      models: { [MODEL]: { expectedOutputTokens: 77 } },
      callers: { one: { budget: { usdPerDay: 5, hard: true } }, two: { budget: { usdPerDay: 5 } } },
    });
    await rig.ask({ caller: 'one' });
    await rig.ask({ caller: 'two' });
    const { lastRequests } = await rig.judge.stats();
    const sent = lastRequests.map(({ body }) => (body as { max_tokens?: number }).max_tokens);
    expect(new Set(sent)).toEqual(new Set([77, undefined]));
  });

  async function expectAtRest(caller: string): Promise<void> {
    for (let look = 0; ; look += 1) {
      const { budgets } = await rig.usage(caller);
      const reserved = budgets.map((budget) => budget.reserved);
      if (reserved.every((amount) => amount === 0)) return;
      if (look === 100) throw new Error(`still reserved: ${reserved.join()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
});
