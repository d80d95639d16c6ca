import type { ScopeLimits } from '../../src/admission/admission.rules.js';
import type { PODS } from './admission-bench.js';

export interface WorldCaller {
  readonly flow: string;
  readonly weight: number;
  /** So many calls at a time, each followed by the next. */
  readonly calls: number;
  readonly durationMs: readonly [number, number];
  readonly waitMs: readonly [number, number];
}

/** How often things go wrong, 0 to 1 per occasion. */
export interface WorldFaults {
  /** A message is lost. */
  readonly lost: number;
  /** A caller leaves while it waits, or before its call is sent. */
  readonly left: number;
  /** A process ends between two beats. */
  readonly killed: number;
  /** A command is sent twice. */
  readonly repeated: number;
  /** The bill is up to twice the reservation. */
  readonly overrun: number;
}

export interface WorldPlan {
  readonly seed: number;
  readonly limits: ScopeLimits;
  readonly forMs: number;
  readonly callers: readonly WorldCaller[];
  readonly faults?: WorldFaults;
  /** How late calls arrive after their grants, ms; as the guard allows by default. */
  readonly lateMs?: number;
}

export const NO_FAULTS: WorldFaults = { lost: 0, left: 0, killed: 0, repeated: 0, overrun: 0 };

export interface WorldCall {
  readonly id: string;
  readonly pod: WorldPod;
  readonly caller: WorldCaller;
  readonly tokens: { readonly prompt: number; readonly estimated: number; readonly actual: number };
  readonly deadline: number;
  state: 'waiting' | 'granted' | 'sent' | 'over';
}

export interface WorldPod {
  readonly name: string;
  /** Rises with each life: what belonged to an earlier one is gone. */
  life: number;
  /** When it is to pump. */
  pumpAt: number;
  readonly calls: Map<string, WorldCall>;
}

export function podOf(name: (typeof PODS)[number]): WorldPod {
  return { name, life: 0, pumpAt: 0, calls: new Map() };
}
