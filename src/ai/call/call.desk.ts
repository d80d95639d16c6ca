import { Inject, Injectable } from '@nestjs/common';
import { AI_OPTIONS, type AiOptions } from '../ai.options.js';
import type { Bill } from '../ledger/bill.js';
import { NANO_PER_USD } from '../ledger/ledger.entry.js';
import type { RoutePlan } from '../route/route.plan.js';
import type { Attempt } from './attempt.js';
import { AttemptSequence } from './attempt.sequence.js';
import type { CallAccount } from './call.account.js';
import { CallAccounts } from './call.accounts.js';
import { CallGate } from './call.gate.js';
import type { CompletionCall } from './completion-call.js';
import { TracedGate } from './traced.gate.js';
import { CompletionRouter, type Preview } from './completion.router.js';
import { UpstreamGate } from './upstream.gate.js';

/** A call that has its plan, and has been let in by its caller's own limits. */
export interface OpenCall {
  readonly plan: RoutePlan;
  readonly gate: CallGate;
  readonly sequence: AttemptSequence;
  /** To be closed on every way out. */
  readonly account: CallAccount;
  /** How long room was waited for so far, ms. */
  readonly queueMs: () => number;
}

/** Plans calls, lets them in, and keeps the report of what they took. */
@Injectable()
export class CallDesk {
  constructor(
    private readonly router: CompletionRouter,
    private readonly upstream: UpstreamGate,
    private readonly accounts: CallAccounts,
    @Inject(AI_OPTIONS) private readonly options: AiOptions,
  ) {}

  /**
   * @param preview - its plan, where it was just made
   * @throws the signal's reason when the caller has left, and errors that become the answer when its own limits or budget are used up;
   *   nothing is left behind then, but for the entry in the ledger
   */
  async open(call: CompletionCall, preview?: Preview): Promise<OpenCall> {
    const plan = await this.router.plan(call, preview);
    const quota = this.accounts.quotaOf(call);
    const account = this.accounts.accountOf(call, quota, (attempt, bill) => {
      this.billed(attempt, bill);
    });
    try {
      const [first] = plan.candidates;
      await quota.enter(first, first !== undefined && this.upstream.obstacleAt(first) === undefined);
    } catch (error) {
      account.close(error);
      throw error;
    } finally {
      call.report.queueMs = quota.queueMs;
      call.report.usage = quota.usage;
      call.trace?.waited(quota.queueMs, { 'coordinator.admission': 'caller' });
    }
    const gate = new CallGate(this.upstream, quota);
    const seen = call.trace === undefined ? gate : new TracedGate(gate, call.trace);
    const sequence = new AttemptSequence(call, plan, seen, { rules: this.options.attempts });
    return { plan, gate, sequence, account, queueMs: () => quota.queueMs + gate.queueMs };
  }

  private billed({ call, candidate }: Attempt, bill: Bill): void {
    const { promptTokens, completionTokens, costNanoUsd, isEstimated } = bill;
    const { report } = call;
    const costUsd = costNanoUsd === undefined ? undefined : costNanoUsd / NANO_PER_USD;
    // An attempt before may have been paid for as well: an answer that was of no use.
    report.promptTokens = (report.promptTokens ?? 0) + promptTokens;
    report.completionTokens = (report.completionTokens ?? 0) + completionTokens;
    if (costUsd !== undefined) report.costUsd = Number(((report.costUsd ?? 0) + costUsd).toFixed(9));
    this.upstream.billed(candidate, bill, costUsd);
    if (!isEstimated) this.router.counted(call, candidate.model, promptTokens);
  }
}
