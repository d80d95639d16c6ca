import { type ScopeLimits, scopeRules } from '../../src/admission/admission.rules.js';
import { loadAdmissionScripts, type AdmissionScripts } from '../../src/admission/admission.scripts.js';
import {
  type AcquireAnswer,
  type AcquireCommand,
  type AdmissionMessage,
  type AdmissionStore,
  LEASE_MS,
  type Notice,
  type Scope,
  type ScopeCommand,
} from '../../src/admission/admission.store.js';
import { MemoryAdmissionStore } from '../../src/admission/memory-admission.store.js';
import { ScopeTable } from '../../src/admission/memory/scope.table.js';
import { RedisAdmissionStore } from '../../src/admission/redis-admission.store.js';
import { CLOCK_KEY, clockedRedis, type ClockedServer, settleInProcess, type TestClock } from './clocked-redis.js';
import type { ClockedTopology } from './clocked-topology.js';

export const START_US = 1_764_421_836_000_000;
export const PODS = ['p1', 'p2', 'p3'] as const;

/** An admission store in the test's time, with what its processes were told by message. */
export interface AdmissionBench {
  readonly store: AdmissionStore;
  readonly clock: TestClock;
  /** What was told since the last call: process, then message. */
  heard(): Promise<readonly (readonly [string, AdmissionMessage])[]>;
  /** May be called again. */
  close(): Promise<void>;
}

export type RedisAdmissionBench = AdmissionBench & ClockedServer;

/** Nothing is cleared away, as the keys of ClockedRedis live on: what is over must be decided by the store. */
export class EndlessTable extends ScopeTable {
  override clearOver(): void {
    // On purpose.
  }
}

export async function memoryBench(
  clock: TestClock = { us: START_US },
  table = new ScopeTable(),
): Promise<AdmissionBench> {
  const store = new MemoryAdmissionStore({ clock: () => clock.us, table });
  const heard = await listen(store, settleInProcess);
  return { store, clock, heard, close: () => Promise.resolve() };
}

export async function redisBench(
  address: { readonly host: string; readonly port: number },
  prefix: string,
  clock: TestClock = { us: START_US },
  scripts: AdmissionScripts = loadAdmissionScripts({ clock: { key: CLOCK_KEY } }),
): Promise<RedisAdmissionBench> {
  const server = clockedRedis(address, prefix, clock);
  const store = new RedisAdmissionStore(server.redis, scripts);
  const heard = await listen(store, () => server.redis.settle());
  return { ...server, store, clock, heard };
}

/** On Redis of any kind, over the store that production has. */
export async function admissionBenchOn(redis: ClockedTopology, keyPrefix: string): Promise<AdmissionBench> {
  const ground = await redis.ground(keyPrefix, START_US, loadAdmissionScripts);
  const store = new RedisAdmissionStore(ground.store);
  return { store, clock: ground.clock, heard: await listen(store, ground.settle), close: ground.close };
}

async function listen(store: AdmissionStore, settle: () => Promise<void>): Promise<AdmissionBench['heard']> {
  const messages: (readonly [string, AdmissionMessage])[] = [];
  for (const name of PODS) await store.subscribe(name, (message) => messages.push([name, message]));
  return async () => {
    await settle();
    return messages.splice(0);
  };
}

export function scopeOf(limits: ScopeLimits, name = 'deployment:one'): Scope {
  return { name, rules: scopeRules(limits) };
}

/** The commands on one scope; ids are `process-number`. */
export class ScopeDriver {
  constructor(
    readonly bench: AdmissionBench,
    readonly scope: Scope,
  ) {}

  acquire(id: string, rest: Partial<AcquireCommand> = {}): Promise<AcquireAnswer> {
    const common = { flow: 'f', weight: 1, tokens: 0, microUsd: 0, waitMs: 0, leaseMs: LEASE_MS };
    return this.bench.store.acquire({ ...this.#of(id), id, ...common, ...rest });
  }

  settle(id: string, tokens = 0, microUsd = 0) {
    return this.bench.store.settle({ ...this.#of(id), id, tokens, microUsd });
  }

  cancel(id: string) {
    return this.bench.store.cancel({ ...this.#of(id), id });
  }

  beat(ids: readonly string[], process = processOf(ids[0] ?? 'p1')) {
    return this.bench.store.beat({ ...this.#of(process), process, ids });
  }

  /** A process tells that it let calls in by itself, lately. */
  tellLocal(localMs: number) {
    return this.bench.store.beat({ ...this.#of('p1'), localMs, ids: [] });
  }

  hold(forMs: number) {
    return this.bench.store.hold({ ...this.#of('p1'), forMs });
  }

  learn(limits: { windowMs: number; requests?: number; tokens?: number }[], forMs: number) {
    return this.bench.store.learn({ ...this.#of('p1'), limits, forMs });
  }

  inspect() {
    return this.bench.store.inspect(this.scope);
  }

  pass(ms: number): void {
    this.bench.clock.us += ms * 1_000;
  }

  /** What waiters were told by message, in order. */
  async told(): Promise<readonly Notice[]> {
    return (await this.bench.heard()).flatMap(([, { notices }]) => notices);
  }

  #of(id: string): ScopeCommand {
    return { scope: this.scope, process: processOf(id), seen: false };
  }
}

function processOf(id: string): string {
  return id.split('-')[0] ?? '';
}
