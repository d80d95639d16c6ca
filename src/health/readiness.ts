import type { HealthIndicatorResult } from '@nestjs/terminus';
import type { Phase, StoreState } from './health.options.js';

/** A store that refuses calls may be away this long before the pod is taken out, ms: failovers take a few seconds. */
export const STORE_PATIENCE_MS = 5_000;

/** Ready in this respect or not, and what an operator should know. */
export type Readiness = HealthIndicatorResult<string, 'up' | 'down', Readonly<Record<string, string | number>>>;

/** Down before boot completes and while draining. */
export function phaseReadiness(phase: Phase): Readiness {
  return { process: { status: phase === 'serving' ? 'up' : 'down', phase } };
}

/**
 * Down only when calls would be refused and the store has been away for longer than 5 s. With policy `degrade` the pod goes on
 * with its share of the limits, so it stays ready and says so.
 */
export function storeReadiness(store: StoreState): Readiness {
  if (store.kind === 'memory') return { store: { status: 'up', kind: 'memory', note: 'single replica only' } };
  const { kind, policy, downForMs, reason } = store;
  const isDown = policy === 'refuse' && downForMs > STORE_PATIENCE_MS;
  const status = isDown ? 'down' : 'up';
  if (downForMs === 0) return { store: { status, kind, policy } };
  const note = policy === 'degrade' ? 'degraded: local limits' : 'not answering';
  return { store: { status, kind, policy, downForMs, note, ...(reason !== undefined && { reason }) } };
}
