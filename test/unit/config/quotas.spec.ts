import { describe, expect, it } from '@jest/globals';
import { faultsOfFile, fileWith, load, loadFile, model } from './sources.js';

const caller = (more: object): object => ({ name: 'app', keySha256: 'ab'.repeat(32), tier: 'pro', ...more });

describe('limits in coordinator.yaml', () => {
  it('are what the file says, at a model, a deployment and a caller', () => {
    const limits = {
      rpm: 60,
      tpm: 1_000,
      windows: [
        { windowMs: '10s', requests: 12 },
        { windowMs: 1_000, tokens: 50 },
      ],
      tokenRule: 'adm',
      whenStoreDown: 'refuse',
      slots: 'strict',
    };
    const settings = loadFile(
      fileWith({
        models: [model({ limits, deployments: [{ provider: 'p', model: 'm-1', limits }] })],
        callers: [caller({ limits })],
      }),
    );
    const parsed = {
      ...limits,
      windows: [
        { windowMs: 10_000, requests: 12 },
        { windowMs: 1_000, tokens: 50 },
      ],
    };
    expect(settings.models[0]?.limits).toEqual(parsed);
    expect(settings.models[0]?.deployments[0]?.limits).toEqual(parsed);
    expect(settings.callers[0]?.limits).toEqual(parsed);
  });

  it.each<[string, object, readonly string[]]>([
    ['no rule for tokens', { tokenRule: 'mine' }, ['tokenRule: must be one of safe, adm, cmp']],
    ['no policy', { whenStoreDown: 'ignore' }, ['whenStoreDown: must be one of degrade, refuse']],
    ['a window of nothing', { windows: [{ windowMs: '10s' }] }, ['windows[0]: must limit requests, tokens or both']],
    ['a window without a length', { windows: [{ requests: 1 }] }, ['windows[0].windowMs: is required']],
    [
      'a window that is too short',
      { windows: [{ windowMs: 10, requests: 1 }] },
      ['windows[0].windowMs: must be a duration from 1s to 1h'],
    ],
    [
      'the minute twice',
      { rpm: 5, windows: [{ windowMs: '1m', requests: 1 }] },
      ['windows[0]: a window of this length is limited already'],
    ],
    [
      'more windows than are kept',
      { rpm: 5, windows: ['1s', '5s', '10s'].map((windowMs) => ({ windowMs, requests: 1 })) },
      ['windows: must be at most 3, with the minute of rpm and tpm'],
    ],
  ])('are refused: %s', (_case, limits, faults) => {
    expect(faultsOfFile(fileWith({ models: [model({ limits })] }))).toEqual(
      faults.map((fault) => `models[0].limits.${fault}`),
    );
    expect(faultsOfFile(fileWith({ callers: [caller({ limits })] }))).toEqual(
      faults.map((fault) => `callers[0].limits.${fault}`),
    );
  });
});

describe('budgets in coordinator.yaml', () => {
  it('are in dollars and in tokens, by day and by month', () => {
    const budget = { usdPerDay: 0.5, usdPerMonth: 10, tokensPerDay: 0, tokensPerMonth: 5_000_000_000, hard: true };
    expect(loadFile(fileWith({ callers: [caller({ budget, cacheGroup: 'web' })] })).callers[0]).toMatchObject({
      budget,
      cacheGroup: 'web',
    });
  });

  it('are refused where they limit nothing', () => {
    expect(faultsOfFile(fileWith({ callers: [caller({ budget: { hard: true } })] }))).toEqual([
      'callers[0].budget: must limit USD or tokens, by the day or by the month',
    ]);
  });

  it('hold no half tokens', () => {
    expect(faultsOfFile(fileWith({ callers: [caller({ budget: { tokensPerDay: 1.5 } })] }))).toEqual([
      'callers[0].budget.tokensPerDay: must be a whole number',
    ]);
  });
});

describe('cache and ledger in coordinator.yaml', () => {
  it('have their defaults where nothing is said, and in the shipped file', () => {
    for (const settings of [load(), loadFile(fileWith())]) {
      expect(settings.cache).toEqual({ maxBytes: 268_435_456, maxEntryBytes: 1_048_576, idempotencyMs: 86_400_000 });
      expect(settings.ledger).toEqual({ keepMs: 35 * 86_400_000 });
    }
  });

  it('are what the file says', () => {
    const cache = { maxBytes: '1mb', maxEntryBytes: 2_048, idempotencyMs: '30d' };
    expect(loadFile(fileWith({ cache, ledger: { keepMs: '400d' } }))).toMatchObject({
      cache: { maxBytes: 1_048_576, maxEntryBytes: 2_048, idempotencyMs: 30 * 86_400_000 },
      ledger: { keepMs: 400 * 86_400_000 },
    });
  });

  it.each<[string, Record<string, unknown>, readonly string[]]>([
    [
      'an answer larger than the whole',
      { cache: { maxBytes: '1mb', maxEntryBytes: '2mb' } },
      ['cache.maxEntryBytes: must be at most maxBytes, which is for all of them'],
    ],
    [
      'no size',
      { cache: { maxBytes: 'much' } },
      ['cache.maxBytes: must be a size from 1kb to 1gb, such as 32mb, 512kb or a number of bytes'],
    ],
    ['an hour of a ledger', { ledger: { keepMs: '1h' } }, ['ledger.keepMs: must be a duration from 1d to 400d']],
  ])('are refused: %s', (_case, sections, faults) => {
    expect(faultsOfFile(fileWith(sections))).toEqual(faults);
  });
});
