import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { BudgetMetrics } from '../../../src/ai/ledger/budget.metrics.js';
import { type BudgetChange, type BudgetEvent, BudgetWatch } from '../../../src/ai/ledger/budget.watch.js';
import { createLogger } from '../../../src/observability/index.js';

const change = (spentBefore: number, spentAfter: number, more: Partial<BudgetChange> = {}): BudgetChange => ({
  ...{ caller: 'acme', unit: 'usd', period: 'day', limit: 10 },
  ...{ spentBefore, spentAfter },
  ...more,
});

function told(...changes: readonly BudgetChange[]): readonly BudgetEvent[] {
  const events: BudgetEvent[] = [];
  const watch = new BudgetWatch({ crossed: (event) => events.push(event) });
  for (const each of changes) watch.spent(each);
  return events;
}

const thresholds = (...changes: readonly BudgetChange[]): readonly number[] =>
  told(...changes).map(({ threshold }) => threshold);

describe('BudgetWatch', () => {
  it('tells of 80 and 100 percent as they are reached, with what is spent', () => {
    expect(told(change(0, 7.9), change(7.9, 8), change(8, 9.99), change(9.99, 10), change(10, 12))).toEqual([
      { caller: 'acme', unit: 'usd', period: 'day', threshold: 80, limit: 10, spent: 8 },
      { caller: 'acme', unit: 'usd', period: 'day', threshold: 100, limit: 10, spent: 10 },
    ]);
  });

  it('tells of both where one call goes past both', () => {
    expect(thresholds(change(1, 25))).toEqual([80, 100]);
  });

  it('takes budgets apart by caller, unit and period', () => {
    const others = [{ caller: 'other' }, { unit: 'tokens' }, { period: 'month' }] as const;
    expect(thresholds(change(7, 8), ...others.map((other) => change(7, 8, other)))).toEqual([80, 80, 80, 80]);
  });

  it('tells nothing of a budget of 0, of which nothing can be used', () => {
    expect(thresholds(change(0, 5, { limit: 0 }))).toEqual([]);
  });

  it('tells each threshold exactly once, however a budget is used up, and by whichever pods', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 2 })), { maxLength: 60 }),
        (limit, calls) => {
          const events: number[] = [];
          const pods = [0, 1, 2].map(() => new BudgetWatch({ crossed: ({ threshold }) => events.push(threshold) }));
          let spent = 0;
          for (const [amount, pod] of calls) {
            pods[pod]?.spent(change(spent, spent + amount, { limit }));
            spent += amount;
          }
          expect(events).toEqual([80, 100].filter((threshold) => spent >= (limit * threshold) / 100));
        },
      ),
    );
  });
});

describe('BudgetMetrics', () => {
  it('counts by threshold, unit and period, and names the caller in the log alone', async () => {
    const registry = new Registry();
    const lines: string[] = [];
    const logger = createLogger({ level: 'info', secrets: [] }, { write: (line) => void lines.push(line) });
    const watch = new BudgetWatch(new BudgetMetrics(registry, logger));
    watch.spent(change(1, 12));
    const metrics = await registry.metrics();
    for (const threshold of [80, 100])
      expect(metrics).toContain(`coordinator_budget_events_total{threshold="${threshold}",unit="usd",period="day"} 1`);
    expect(metrics).not.toContain('acme');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { caller: 'acme', threshold: 80, spent: 12, limit: 10, msg: 'a budget is nearly used up' },
      { caller: 'acme', threshold: 100, msg: 'a budget is used up' },
    ]);
  });
});
