import { Injectable } from '@nestjs/common';
import { CallAccounts } from '../call/call.accounts.js';
import { ledgerEntry } from '../call/call.entry.js';
import type { CompletionCall } from '../call/completion-call.js';
import { FREE_BILL } from '../ledger/bill.js';
import { Ledger } from '../ledger/ledger.js';
import type { ReuseAccounts } from '../reuse/reuse.accounts.js';

/** Counts calls that are answered with somebody else's answer: a request among their caller's limits, and a free entry in the ledger. */
@Injectable()
export class QuotaAccounts implements ReuseAccounts {
  constructor(
    private readonly accounts: CallAccounts,
    private readonly ledger: Ledger,
  ) {}

  async count(call: CompletionCall, end: 'hit' | 'joined'): Promise<void> {
    const quota = this.accounts.quotaOf(call);
    const { report, caller } = call;
    try {
      await quota.enter(undefined);
    } finally {
      report.queueMs = quota.queueMs;
      report.usage = quota.usage;
    }
    void quota.end(0);
    this.ledger.book(caller.id, ledgerEntry(call, FREE_BILL, { end, attempts: 0 }));
  }
}
