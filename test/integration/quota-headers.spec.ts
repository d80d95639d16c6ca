import { afterEach, describe, expect, it } from '@jest/globals';
import { MODEL, QuotaRig, type QuotaRigOptions } from '../support/quota-rig.js';

let rig: QuotaRig;
const start = async (options: QuotaRigOptions): Promise<void> => {
  rig = await QuotaRig.start(options);
};
afterEach(() => rig.close());

/** Less what the calls before it took. */
const A_MINUTE: unknown = expect.stringMatching(/^(60|5\d)s$/);
/** Less than what is left of a minute. */
const NOW = { 'x-coordinator-timeout-ms': '10000' };

describe('a refusal by the limits of a caller', () => {
  it('says what the window that refused has left, not the longest', async () => {
    const windows = [
      { windowMs: 60_000, requests: 2, tokens: 50_000 },
      { windowMs: 3_600_000, requests: 100 },
    ];
    await start({ callers: { one: { limits: { windows } } } });
    await rig.askAll(2, { caller: 'one' });
    const { status, headers } = await rig.ask({ caller: 'one', headers: NOW });
    expect(status).toBe(429);
    expect(limitsIn(headers)).toMatchObject({
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': A_MINUTE,
      'x-ratelimit-limit-tokens': '50000',
      'x-ratelimit-reset-tokens': A_MINUTE,
    });
    expect(Number(headers.get('x-ratelimit-remaining-tokens'))).toBeGreaterThan(0);
  });

  it('has left what was left, where the call is more than it may ever take', async () => {
    await start({ callers: { one: { limits: { tpm: 100 } } } });
    const { status, headers } = await rig.ask({ caller: 'one', body: { max_tokens: 500 } });
    expect(status).toBe(429);
    expect(limitsIn(headers)).toEqual({
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '100',
      'x-ratelimit-reset-tokens': '60s',
    });
  });

  it('is told as well where the answer would have come from the cache', async () => {
    await start({ models: { [MODEL]: { cacheTtlMs: 60_000 } }, callers: { one: { limits: { rpm: 2 } } } });
    const same = { caller: 'one', body: { messages: [{ role: 'user', content: 'echo: the same' }] } };
    const kept = [await rig.ask(same), await rig.ask(same)];
    expect(kept.map(({ headers }) => headers.get('x-coordinator-cache'))).toEqual(['miss', 'hit']);
    const { status, headers } = await rig.ask({ ...same, headers: NOW });
    expect([status, headers.get('x-ratelimit-remaining-requests')]).toEqual([429, '0']);
  });

  it('is told after a wait in vain as well', async () => {
    await start({ callers: { one: { limits: { rpm: 10, concurrency: 1 } } } });
    await rig.judge.script({ delayMs: 3_000 });
    const first = rig.ask({ caller: 'one' });
    await rig.judge.statsWhen(({ inFlight }) => inFlight === 1);
    const { status, headers } = await rig.ask({ caller: 'one', headers: { 'x-coordinator-timeout-ms': '1500' } });
    expect([status, headers.get('x-ratelimit-remaining-requests')]).toEqual([429, '9']);
    expect((await first).status).toBe(200);
  });
});

function limitsIn(headers: Headers): Readonly<Record<string, string>> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit-')));
}
