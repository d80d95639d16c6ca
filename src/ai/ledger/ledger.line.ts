import type { LedgerLine } from './ledger.dto.js';
import { type BookedEntry, NANO_PER_USD } from './ledger.entry.js';

/** An entry as callers read it. */
export function ledgerLine(caller: string, entry: BookedEntry): LedgerLine {
  return {
    id: entry.id,
    object: 'usage.entry',
    created_at: new Date(entry.at).toISOString(),
    caller,
    request_id: entry.requestId,
    requested_model: entry.requested,
    model: entry.model ?? null,
    provider: entry.provider ?? null,
    deployment: entry.deployment ?? null,
    outcome: entry.end,
    code: entry.code ?? null,
    prompt_tokens: entry.promptTokens,
    cached_tokens: entry.cachedTokens,
    completion_tokens: entry.completionTokens,
    reasoning_tokens: entry.reasoningTokens,
    cost_usd: entry.costNanoUsd === undefined ? null : entry.costNanoUsd / NANO_PER_USD,
    estimated: entry.isEstimated,
    attempts: entry.attempts,
    idempotency_key_sha256: entry.idempotencyKeyHash ?? null,
  };
}
