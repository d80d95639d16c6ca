import { Inject, Injectable } from '@nestjs/common';
import { BUDGET_READER, type BudgetReader } from './budget.reader.js';
import { Ledger } from './ledger.js';
import type { BookedEntry } from './ledger.entry.js';
import { dayOf, monthOf } from './ledger.periods.js';
import { LEDGER_STORE, type LedgerStore, type PageQuestion } from './ledger.store.js';
import { budgetCard, limitsCard, periodCard } from './usage.card.js';
import type { UsageCard } from './usage.dto.js';

/** Entries that one look at the ledger gives. */
const PAGE = 500;

/** What callers have used, and what they may use. */
@Injectable()
export class UsageService {
  constructor(
    private readonly ledger: Ledger,
    @Inject(LEDGER_STORE) private readonly store: LedgerStore,
    @Inject(BUDGET_READER) private readonly budgets: BudgetReader,
  ) {}

  /** @param at - Unix ms within the day and the month that are asked for @throws StoreError */
  async usageOf(caller: string, at: number): Promise<UsageCard> {
    // Who has just been answered finds that call in the sums, where this pod has answered it.
    await this.ledger.flush();
    const [day, month] = [dayOf(at), monthOf(at)];
    const [sums, allowance] = await Promise.all([
      this.store.sums(caller, [day.name, month.name]),
      this.budgets.allowanceOf(caller),
    ]);
    const [ofDay = new Map(), ofMonth = new Map()] = sums;
    return {
      object: 'usage',
      caller,
      periods: { day: periodCard(day, ofDay), month: periodCard(month, ofMonth) },
      limits: limitsCard(allowance.limits),
      budgets: allowance.budgets.map(budgetCard),
    };
  }

  /** A caller's entries, page by page, for as long as it is read. @throws StoreError */
  async *entriesOf(caller: string, question: PageQuestion): AsyncGenerator<readonly BookedEntry[]> {
    await this.ledger.flush();
    let { limit: left, ...rest }: PageQuestion = question;
    while (left > 0) {
      const { entries, next } = await this.store.page(caller, { ...rest, limit: Math.min(left, PAGE) });
      yield entries;
      if (next === undefined) return;
      left -= entries.length;
      rest = { ...rest, after: next };
    }
  }
}
