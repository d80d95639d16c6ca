import { describe, expect, it } from '@jest/globals';
import type { Demand } from '../../../src/simulator/quota/quota.account.js';
import { QuotaJudge } from '../../../src/simulator/quota/quota.judge.js';

/** A judge whose clock stands until it is moved. */
class Court {
  now = 0;
  readonly judge = new QuotaJudge(() => this.now);

  constructor(limits: Readonly<Record<string, string>> = {}) {
    this.judge.limit(Object.entries(limits));
  }

  arrive(model = 'm', key?: string, demand: Promise<Demand> = Promise.resolve({ promptTokens: 1, outputTokens: 1 })) {
    return this.judge.arrive(model, key, demand);
  }

  /** What refuses it; undefined: nothing. */
  async refuses(model?: string, key?: string): Promise<string | undefined> {
    return (await this.arrive(model, key).ruling).refusal?.kind;
  }
}

/** A demand that is known later. */
function later(): { readonly demand: Promise<Demand>; known(promptTokens: number): void } {
  const { promise, resolve } = withResolvers<Demand>();
  return {
    demand: promise,
    known: (promptTokens) => {
      resolve({ promptTokens, outputTokens: 0 });
    },
  };
}

function withResolvers<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('QuotaJudge', () => {
  it('judges each model and each key by itself', async () => {
    const court = new Court({ m: 'rpm=1', '*': 'rpm=2' });
    const refusals = [];
    for (const [model, key] of [['m', 'a'], ['m', 'b'], ['m', 'a'], ['m'], ['n', 'a'], ['n', 'a'], ['n', 'a']]) {
      refusals.push(await court.refuses(model, key));
    }
    expect(refusals).toEqual([undefined, undefined, 'requests', undefined, undefined, undefined, 'requests']);
  });

  it('judges in the order and as of the moments of arrival, though the tokens are known later', async () => {
    const court = new Court({ m: 'tpm=100' });
    const slow = later();
    const quick = later();
    const first = court.arrive('m', undefined, slow.demand);
    court.now = 1_000;
    const second = court.arrive('m', undefined, quick.demand);
    quick.known(60);
    court.now = 61_000;
    slow.known(60);
    expect((await first.ruling).refusal).toBeUndefined();
    // By now the first one has left the window; when the second one came it had not.
    expect((await second.ruling).refusal).toMatchObject({ kind: 'tokens', used: 60, waitMs: 59_000 });
  });

  it('frees a slot as of the end of the call, not for who came before', async () => {
    const court = new Court({ m: 'concurrency=1' });
    const running = court.arrive();
    await running.ruling;
    const slow = later();
    const before = court.arrive('m', undefined, slow.demand);
    running.leave('answered', Promise.resolve(undefined));
    const after = court.arrive();
    slow.known(1);
    expect((await before.ruling).refusal?.kind).toBe('concurrency');
    expect((await after.ruling).refusal).toBeUndefined();
  });

  it('gives everything back when a caller leaves before the ruling', async () => {
    const court = new Court({ m: 'concurrency=1,rule=cmp' });
    const slow = later();
    court.arrive('m', undefined, slow.demand).leave('aborted', Promise.resolve(undefined));
    slow.known(1);
    expect(await court.judge.toJson()).toMatchObject([{ admitted: 1, aborted: 1, inFlight: 0, peakInFlight: 1 }]);
  });

  it('leaves no slot taken by a refused request', async () => {
    const court = new Court({ m: 'rpm=1,concurrency=5' });
    for (let call = 0; call < 3; call += 1) {
      const visit = court.arrive();
      await visit.ruling;
      visit.leave('answered', Promise.resolve(undefined));
    }
    expect(await court.judge.toJson()).toMatchObject([{ seen: 3, admitted: 1, inFlight: 0, peakInFlight: 1 }]);
  });

  it('judges on after a demand that could not be known', async () => {
    const court = new Court({ m: 'rpm=1' });
    const broken = court.arrive('m', undefined, Promise.reject(new Error('no count')));
    const next = court.arrive();
    await expect(broken.ruling).rejects.toThrow('no count');
    broken.leave('answered', Promise.resolve(undefined));
    expect((await next.ruling).refusal).toBeUndefined();
    expect(await court.judge.toJson()).toMatchObject([{ seen: 1, inFlight: 1 }]);
  });

  it('sets other limits at run time, all or none', async () => {
    const court = new Court({ m: 'rpm=1' });
    await court.refuses('m');
    await court.refuses('n');
    expect(() => {
      court.judge.limit([
        ['n', 'rpm=1'],
        ['m', 'rpm=x'],
      ]);
    }).toThrow('limits of m: rpm must be');
    expect(court.judge.list()).toEqual({ m: 'rpm=1' });
    court.judge.limit([['*', 'rpm=1']]);
    // Its own limits stand, and its window is as it was.
    expect(await court.refuses('m')).toBe('requests');
    expect([await court.refuses('n'), await court.refuses('n')]).toEqual([undefined, 'requests']);
    court.judge.limit([['m', '']]);
    expect([await court.refuses('m'), await court.refuses('m')]).toEqual([undefined, undefined]);
    court.judge.unlimit();
    expect([await court.refuses('n'), await court.refuses('n')]).toEqual([undefined, undefined]);
    expect(court.judge.list()).toEqual({});
  });

  it('shows keys by their last four characters', async () => {
    const court = new Court();
    await court.refuses('m', 'sk-secret-1234');
    await court.refuses('m');
    expect(await court.judge.toJson()).toMatchObject([{ key: '…1234' }, { key: 'none' }]);
  });

  it('forgets keys at rest when there are too many, and never one with something on a window', async () => {
    const court = new Court({ '*': 'rpm=1' });
    const visitOnce = async (key: string): Promise<void> => {
      const visit = court.arrive('m', key);
      await visit.ruling;
      visit.leave('answered', Promise.resolve(undefined));
    };
    for (let key = 0; key < 1_500; key += 1) await visitOnce(`early-${key}`);
    expect(await court.refuses('m', 'early-0')).toBe('requests');
    court.now = 60_000;
    for (let key = 0; key < 1_500; key += 1) await visitOnce(`late-${key}`);
    const books = await court.judge.toJson();
    expect(books.length).toBeLessThanOrEqual(2_000);
    for (const key of ['late-0', 'late-1499']) expect(await court.refuses('m', key)).toBe('requests');
  });

  it('tells the rate limits of the tightest window, this request included', async () => {
    const court = new Court({ m: 'requests=100/90s,requests=3/2s,tokens=50/90s' });
    await court.refuses();
    court.now = 500;
    expect((await court.arrive().ruling).headers).toEqual({
      'x-ratelimit-limit-requests': '3',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '2s',
      'x-ratelimit-limit-tokens': '50',
      'x-ratelimit-remaining-tokens': '46',
      'x-ratelimit-reset-tokens': '1m30s',
    });
  });
});
