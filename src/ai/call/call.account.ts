import { setTimeout as sleep } from 'node:timers/promises';
import { ClientGoneError, toApiError } from '../../http/index.js';
import { type Bill, billOf, FREE_BILL } from '../ledger/bill.js';
import { type CallEnd, type LedgerEntry, NANO_PER_USD } from '../ledger/ledger.entry.js';
import { MICRO_PER_USD, microUsdOf } from '../quota/micro.usd.js';
import type { CallQuota } from '../quota/call.quota.js';
import type { Settlement } from '../quota/attempt.quota.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import type { Attempt } from './attempt.js';
import { ledgerEntry } from './call.entry.js';
import type { CompletionCall } from './completion-call.js';
import type { Usage } from './cost.js';

/** How an attempt was over. */
export interface AttemptEnd {
  /** The provider's last word. */
  readonly usage: Usage | undefined;
  readonly reasoningTokens: number;
  /** What came of the answer. */
  readonly delivered: string;
  /** Undefined: at its regular end. */
  readonly error?: unknown;
}

/** How long a provider may take to see that we hung up, ms: until then it has the call in flight, and counts it. */
const SEEN_MS = 150;

interface Counted {
  readonly promptTokens: number;
  readonly deliveredTokens: number;
}

/** What an account needs of others. */
export interface AccountPorts {
  readonly quota: CallQuota;
  /** Tokens of the prompt, and of a text, as the attempt's model counts them. */
  readonly count: (attempt: Attempt, delivered: string) => Promise<Counted>;
  readonly book: (caller: string, entry: LedgerEntry) => void;
  /** Its tokens and cost are known. */
  readonly billed: (attempt: Attempt, bill: Bill) => void;
  /** The call is over; the account is closed when this resolves. */
  readonly closing: (closed: Promise<void>) => void;
}

/**
 * What one call has taken: settles each of its attempts once, and when it is over its place in the caller's limits and its entry in the
 * ledger. Nothing here waits on the way of the call, or rejects.
 */
export class CallAccount {
  readonly #pending: Promise<void>[] = [];
  readonly #leaving: Promise<void>[] = [];
  readonly #bills: Bill[] = [];
  #last: Attempt | undefined;
  #isOver = false;

  constructor(
    private readonly call: CompletionCall,
    private readonly ports: AccountPorts,
  ) {}

  /** An attempt is over, in whatever way. */
  ended(attempt: Attempt, end: AttemptEnd): void {
    this.#last = attempt;
    const { usage, delivered, error } = end;
    const isSilent = usage === undefined && delivered === '' && error !== undefined;
    if (isSilent) this.#settleSilent(attempt, error);
    else if (usage === undefined) this.#pending.push(this.#settleCounted(attempt, end));
    else this.#settleBilled(attempt, end, { promptTokens: 0, deliveredTokens: 0 });
  }

  /** An attempt never went onto the wire: what was reserved for it is free again. */
  unsent({ quota }: Attempt): void {
    void quota.cancel();
  }

  /** The call is over; a second time does nothing. */
  close(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.ports.closing(this.#close(error));
  }

  async #close(error: unknown): Promise<void> {
    await Promise.all(this.#pending);
    const bill = sumOf(this.#bills);
    const wasSent = this.#last !== undefined;
    const settled = this.ports.quota.end(wasSent ? bill.promptTokens + bill.completionTokens : 0);
    this.ports.book(this.call.caller.id, this.#entry(bill, error));
    await Promise.all([settled, ...this.#leaving]);
  }

  /** Nothing came of it. Whoever failed bills nothing; where we hung up, the provider may go on and bill what nobody saw. */
  #settleSilent(attempt: Attempt, error: unknown): void {
    if (attempt.quota.isUnsent) {
      this.unsent(attempt);
      return;
    }
    if (hasHungUp(attempt, error) || !(error instanceof UpstreamFailure)) {
      this.#settle(attempt, { taken: undefined, isCounted: true }, error);
      this.#pending.push(this.#billReserved(attempt));
      return;
    }
    const isRefusal = error.blame !== 'upstream';
    this.#settle(attempt, { taken: { tokens: 0, microUsd: 0 }, isCounted: isRefusal }, error);
  }

  /** As its budget has it booked; without one, by the prompt and the answer that was expected. */
  async #billReserved(attempt: Attempt): Promise<void> {
    const { budgeted, estimate } = attempt.quota;
    if (budgeted !== undefined) {
      this.#bills.push(reservedBill(attempt, budgeted.microUsd));
      return;
    }
    const { promptTokens } = await this.ports.count(attempt, '');
    const outcome = this.#outcome(attempt, { usage: undefined, reasoningTokens: 0, delivered: '', error: 'hung up' });
    this.#bills.push(billOf({ promptTokens, deliveredTokens: estimate.outputTokens, ...outcome }));
  }

  async #settleCounted(attempt: Attempt, end: AttemptEnd): Promise<void> {
    this.#settleBilled(attempt, end, await this.ports.count(attempt, end.delivered));
  }

  #outcome({ candidate }: Attempt, { usage, reasoningTokens, error }: AttemptEnd) {
    return { usage, reasoningTokens, isComplete: error === undefined, prices: candidate.deployment.prices };
  }

  #settleBilled(attempt: Attempt, end: AttemptEnd, counted: Counted): void {
    const { promptTokens, deliveredTokens } = counted;
    const bill = billOf({ promptTokens, deliveredTokens, ...this.#outcome(attempt, end) });
    this.#bills.push(bill);
    this.ports.billed(attempt, bill);
    const tokens = bill.promptTokens + bill.completionTokens;
    // What nobody can price costs what was reserved for it.
    const microUsd =
      bill.costNanoUsd === undefined
        ? (attempt.quota.budgeted?.microUsd ?? 0)
        : microUsdOf(bill.costNanoUsd / NANO_PER_USD);
    this.#settle(attempt, { taken: { tokens, microUsd }, isCounted: true }, end.error);
  }

  #settle(attempt: Attempt, settlement: Settlement, error: unknown): void {
    const { quota } = attempt;
    const isInFlight = quota.isLimited && hasHungUp(attempt, error);
    if (isInFlight) this.#leaving.push(sleep(SEEN_MS).then(() => quota.settle(settlement)));
    else void quota.settle(settlement);
  }

  #entry(bill: Bill, error: unknown): LedgerEntry {
    return ledgerEntry(this.call, bill, {
      end: endOf(bill, error),
      code: error === undefined ? undefined : codeOf(error),
      attempts: this.call.report.attempts,
      deployment: this.#last?.candidate.deployment.id,
    });
  }
}

/** The provider may go on, and does not know yet that nobody listens. */
function hasHungUp({ timers }: Attempt, error: unknown): boolean {
  return timers.expired !== undefined || (error !== undefined && !(error instanceof UpstreamFailure));
}

function endOf({ completionTokens }: Bill, error: unknown): CallEnd {
  if (error === undefined) return 'complete';
  return completionTokens > 0 ? 'partial' : 'failed';
}

function codeOf(error: unknown): string {
  return error instanceof ClientGoneError ? 'client_gone' : toApiError(error).code;
}

function reservedBill({ quota }: Attempt, microUsd: number): Bill {
  const { tokens, outputTokens } = quota.estimate;
  return {
    ...FREE_BILL,
    promptTokens: Math.max(0, tokens - outputTokens),
    completionTokens: 0,
    costNanoUsd: (microUsd * NANO_PER_USD) / MICRO_PER_USD,
    isEstimated: true,
  };
}

/** Of all its attempts; without a price where one of them has none. */
function sumOf(bills: readonly Bill[]): Bill {
  const [only, ...others] = bills;
  if (only !== undefined && others.length === 0) return only;
  return bills.reduce(
    (sum, bill) => ({
      promptTokens: sum.promptTokens + bill.promptTokens,
      cachedTokens: sum.cachedTokens + bill.cachedTokens,
      completionTokens: sum.completionTokens + bill.completionTokens,
      reasoningTokens: sum.reasoningTokens + bill.reasoningTokens,
      costNanoUsd: costOf(sum, bill),
      isEstimated: sum.isEstimated || bill.isEstimated,
    }),
    FREE_BILL,
  );
}

function costOf(one: Bill, other: Bill): number | undefined {
  const isPriced = one.costNanoUsd !== undefined && other.costNanoUsd !== undefined;
  return isPriced ? one.costNanoUsd + other.costNanoUsd : undefined;
}
