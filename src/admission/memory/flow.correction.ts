import type { GrantedRecord } from './scope.record.js';
import type { KeptScope } from './scope.table.js';

interface Outcome {
  /** What the call took of what is scarcest. */
  readonly cost: number;
  /** Undefined where it was never sent. */
  readonly durationMs: number | undefined;
  readonly slots: number;
}

/** Corrects what a flow was charged, and learns how long its calls take: as correct() of prelude.lua. */
export function correctFlow(kept: KeptScope, { flow, weight, cost }: GrantedRecord, outcome: Outcome): void {
  const { flows } = kept;
  const { tag, meanMs } = flows.historyOf(flow);
  const isTimed = outcome.durationMs !== undefined && outcome.slots !== Infinity;
  if (!isTimed && outcome.cost === cost) return;
  const delta = (outcome.cost - cost) / weight;
  const active = flows.active.scoreOf(flow);
  if (active !== undefined) flows.active.set(flow, active + delta);
  const durationMs = outcome.durationMs ?? 0;
  if (isTimed) kept.meanMs = blend(kept.meanMs, durationMs, 0.05);
  const mean = isTimed ? blend(meanMs, durationMs, 0.1) : meanMs;
  flows.remember(flow, { tag: Math.max(tag, kept.virtual) + delta, meanMs: mean });
}

function blend(mean: number, sample: number, share: number): number {
  return mean === 0 ? sample : mean * (1 - share) + sample * share;
}
