import type { BudgetState, CallerAllowance } from './budget.reader.js';
import { NANO_PER_USD } from './ledger.entry.js';
import type { Period } from './ledger.periods.js';
import { addSums, NO_SUMS, type Sums, type SumsByModel } from './ledger.sums.js';
import type { BudgetCard, CallerLimitsCard, UsagePeriodCard, UsageSumsCard } from './usage.dto.js';

/** What was used in a period. */
export function periodCard({ start, end }: Period, sums: SumsByModel): UsagePeriodCard {
  const byCost = [...sums].sort(([, one], [, other]) => other.costNanoUsd - one.costNanoUsd);
  return {
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    ...sumsCard([...sums.values()].reduce(addSums, NO_SUMS)),
    models: byCost.map(([model, ofModel]) => ({ model: model === '' ? null : model, ...sumsCard(ofModel) })),
  };
}

export function limitsCard({ rpm, tpm, concurrency }: CallerAllowance['limits']): CallerLimitsCard {
  return { rpm: rpm ?? null, tpm: tpm ?? null, concurrency: concurrency ?? null };
}

export function budgetCard({ unit, period, limit, spent, reserved, resetsAt, isHard }: BudgetState): BudgetCard {
  return {
    unit,
    period,
    limit,
    spent,
    reserved,
    left: Math.max(0, exact(limit - spent - reserved)),
    resets_at: new Date(resetsAt).toISOString(),
    hard: isHard,
  };
}

function sumsCard(sums: Sums): Pick<UsageSumsCard, keyof UsageSumsCard> {
  return {
    requests: sums.requests,
    cache_hits: sums.hits,
    joined: sums.joined,
    partial: sums.partial,
    failed: sums.failed,
    prompt_tokens: sums.promptTokens,
    cached_tokens: sums.cachedTokens,
    completion_tokens: sums.completionTokens,
    reasoning_tokens: sums.reasoningTokens,
    cost_usd: sums.costNanoUsd / NANO_PER_USD,
    unpriced_requests: sums.unpriced,
    estimated_requests: sums.estimated,
  };
}

/** 0.1 + 0.2 is 0.3. */
function exact(usd: number): number {
  return Number(usd.toFixed(9));
}
