import { describe, expect, it } from '@jest/globals';
import type { Reservation } from '../../../src/admission/index.js';
import type { Attempt } from '../../../src/ai/call/attempt.js';
import { type AttemptEnd, CallAccount } from '../../../src/ai/call/call.account.js';
import type { Bill } from '../../../src/ai/ledger/bill.js';
import type { LedgerEntry } from '../../../src/ai/ledger/ledger.entry.js';
import { AttemptQuota } from '../../../src/ai/quota/attempt.quota.js';
import type { CallQuota } from '../../../src/ai/quota/call.quota.js';
import { UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import { ClientGoneError } from '../../../src/http/index.js';
import { eventually } from '../../support/eventually.js';
import { candidateAt, SequenceBench } from '../../support/sequence-bench.js';

/** At 1 USD per million tokens; 1,000 tokens and 900 micro-dollars are reserved. */
class AccountBench {
  readonly told: string[] = [];
  readonly entries: LedgerEntry[] = [];
  readonly bills: Bill[] = [];
  readonly #call = new SequenceBench().call;
  readonly account: CallAccount;
  #closed = Promise.resolve();

  constructor(private readonly kinds: readonly string[] = ['budget', 'deployment']) {
    const quota = { end: (tokens: number) => Promise.resolve(void this.told.push(`caller ${String(tokens)}`)) };
    this.account = new CallAccount(this.#call, {
      quota: quota as unknown as CallQuota,
      count: (_, delivered) => Promise.resolve({ promptTokens: 10, deliveredTokens: delivered.length }),
      book: (_, entry) => void this.entries.push(entry),
      billed: (_, bill) => void this.bills.push(bill),
      closing: (closed) => {
        this.#closed = closed;
      },
    });
  }

  end(
    end: Partial<AttemptEnd>,
    { expired, isPriced = true, isSent = true }: { expired?: 'total'; isPriced?: boolean; isSent?: boolean } = {},
  ): void {
    const { model, deployment } = candidateAt(0);
    const { prices: _prices, ...unpriced } = deployment;
    const reservations = this.kinds.map((kind) => this.reservation(kind));
    const attempt = {
      call: this.#call,
      candidate: { model, deployment: isPriced ? deployment : unpriced },
      quota: new AttemptQuota({ outputTokens: 900, tokens: 1_000, microUsd: 900 }, reservations),
      timers: { expired },
    };
    if (isSent) attempt.quota.sent();
    this.account.ended(attempt as unknown as Attempt, {
      usage: undefined,
      reasoningTokens: 0,
      delivered: '',
      ...end,
    });
  }

  /** Everything that it took is settled. */
  closed(): Promise<void> {
    return this.#closed;
  }

  async close(error?: unknown): Promise<LedgerEntry> {
    this.account.close(error);
    this.account.close(new Error('a second time'));
    await eventually(() => this.entries.length > 0);
    const [entry] = this.entries;
    if (entry === undefined) throw new Error('nothing was booked');
    return entry;
  }

  private reservation(kind: string): Reservation {
    const settle = (taken?: { tokens?: number; microUsd?: number }): Promise<void> =>
      Promise.resolve(
        void this.told.push(
          taken === undefined
            ? `${kind} as reserved`
            : `${kind} ${String(taken.tokens)} tokens ${String(taken.microUsd)} micro`,
        ),
      );
    const cancel = (): Promise<void> => Promise.resolve(void this.told.push(`${kind} cancelled`));
    const sent = (): void => undefined;
    return { kind, tokens: 1_000, microUsd: 900, settle, cancel, sent } as unknown as Reservation;
  }
}

const USAGE = { promptTokens: 100, cachedTokens: 0, completionTokens: 50 };
const broken = new UpstreamFailure('upstream', 'upstream_error', 'broke off');

describe('CallAccount', () => {
  it('settles an answer by the provider’s usage, and writes it down', async () => {
    const bench = new AccountBench();
    bench.end({ usage: USAGE });
    expect(bench.told).toEqual(['deployment 150 tokens 150 micro', 'budget 150 tokens 150 micro']);
    expect(await bench.close()).toMatchObject({
      ...{ end: 'complete', promptTokens: 100, completionTokens: 50, costNanoUsd: 150_000, isEstimated: false },
    });
    expect(bench.told.at(-1)).toBe('caller 150');
    expect(bench.entries).toHaveLength(1);
  });

  it('counts what was delivered where the provider told nothing, and says that it is an estimate', async () => {
    const bench = new AccountBench();
    bench.end({ delivered: '12345', error: new ClientGoneError() });
    const entry = await bench.close(new ClientGoneError());
    expect(entry).toMatchObject({ end: 'partial', code: 'client_gone', completionTokens: 5, isEstimated: true });
    await bench.closed();
    expect(bench.told).toEqual(['caller 15', 'deployment 15 tokens 15 micro', 'budget 15 tokens 15 micro']);
  });

  it('bills nothing for a provider that failed silently, and leaves what it may have counted', async () => {
    const bench = new AccountBench();
    bench.end({ error: broken });
    expect(bench.told).toEqual(['deployment as reserved', 'budget 0 tokens 0 micro']);
    expect(await bench.close(broken)).toMatchObject({ end: 'failed', costNanoUsd: 0, isEstimated: false });
  });

  it.each([
    ['could not be reached', broken, {}],
    ['was given no time to be', new UpstreamFailure('upstream', 'timeout', 'late'), { expired: 'total' }],
  ] as const)('gives everything back where nothing was sent: the provider %s', async (_case, error, more) => {
    const bench = new AccountBench();
    bench.end({ error }, { ...more, isSent: false });
    expect(bench.told).toEqual(['deployment cancelled', 'budget cancelled']);
    expect(await bench.close(error)).toMatchObject({ end: 'failed', costNanoUsd: 0, isEstimated: false });
    expect(bench.told.at(-1)).toBe('caller 0');
  });

  it.each(['request', 'key', 'deployment'] as const)('takes nothing for a refusal: %s', (blame) => {
    const bench = new AccountBench();
    bench.end({ error: new UpstreamFailure(blame, 'invalid_request', 'no') });
    expect(bench.told).toEqual(['deployment 0 tokens 0 micro', 'budget 0 tokens 0 micro']);
  });

  it.each([
    ['a client that left', { error: new ClientGoneError() }, {}],
    ['a clock that ran out', { error: new UpstreamFailure('upstream', 'timeout', 'late') }, { expired: 'total' }],
  ] as const)('bills what was reserved where this side hung up on silence: %s', async (_case, end, more) => {
    const bench = new AccountBench();
    bench.end(end, more);
    // The provider does not know yet that nobody listens.
    expect(bench.told).toEqual([]);
    expect(await bench.close(end.error)).toMatchObject({ costNanoUsd: 900_000, isEstimated: true });
    await bench.closed();
    expect(bench.told.slice(-2)).toEqual(['deployment as reserved', 'budget as reserved']);
  });

  it('bills who has no budget for the prompt and the answer that was expected', async () => {
    const bench = new AccountBench(['deployment']);
    bench.end({ error: new ClientGoneError() });
    expect(await bench.close(new ClientGoneError())).toMatchObject({
      ...{ promptTokens: 10, completionTokens: 900, costNanoUsd: 910_000, isEstimated: true },
    });
  });

  it('takes what was reserved for the cost of what has no price', () => {
    const bench = new AccountBench();
    bench.end({ usage: USAGE }, { isPriced: false });
    expect(bench.told).toEqual(['deployment 150 tokens 900 micro', 'budget 150 tokens 900 micro']);
    expect(bench.bills[0]?.costNanoUsd).toBeUndefined();
  });

  it('sums all attempts up in one entry, also those that were of no use', async () => {
    const bench = new AccountBench();
    bench.end({ usage: USAGE, error: broken });
    bench.end({ delivered: 'abc' });
    expect(await bench.close()).toMatchObject({
      ...{ end: 'complete', promptTokens: 110, completionTokens: 53, costNanoUsd: 163_000, isEstimated: true },
    });
  });

  it('writes down a call that was never sent', async () => {
    const bench = new AccountBench();
    expect(await bench.close(new ClientGoneError())).toMatchObject({ end: 'failed', code: 'client_gone', attempts: 0 });
    expect(bench.told).toEqual(['caller 0']);
  });
});
