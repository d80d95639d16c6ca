import { randomUUID } from 'node:crypto';
import type { Bill } from '../ledger/bill.js';
import type { LedgerEntry } from '../ledger/ledger.entry.js';
import type { CompletionCall } from './completion-call.js';

/** How a call ended, beside what it is billed. */
export type CallOver = Pick<LedgerEntry, 'end' | 'attempts' | 'code' | 'deployment'>;

/** A call that is over, as the ledger writes it down: now, and under an id of its own. */
export function ledgerEntry(call: CompletionCall, bill: Bill, over: CallOver): LedgerEntry {
  const { report, requestId, request, idempotencyKeyHash } = call;
  // Each member by its name, also those that say nothing: entries of one shape take a fraction of the memory.
  return {
    promptTokens: bill.promptTokens,
    cachedTokens: bill.cachedTokens,
    completionTokens: bill.completionTokens,
    reasoningTokens: bill.reasoningTokens,
    costNanoUsd: bill.costNanoUsd,
    isEstimated: bill.isEstimated,
    callId: randomUUID(),
    at: Date.now(),
    requestId,
    requested: request.model ?? request.models?.[0] ?? '',
    model: report.model,
    provider: report.provider,
    deployment: over.deployment,
    end: over.end,
    code: over.code,
    attempts: over.attempts,
    idempotencyKeyHash,
  };
}
