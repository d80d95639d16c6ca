import { setTimeout as sleep } from 'node:timers/promises';
import { scopeKeys } from '../../src/admission/admission.keys.js';
import { type ScopeLimits, scopeRules } from '../../src/admission/index.js';
import { eventually } from './eventually.js';
import { type Failover, FAILOVER_MS } from './failovers.js';
import { PersistentClients } from './failover-turns.js';
import { type Failure, gapAfter } from './failover-verdict.js';
import { FencedCounters } from './fenced-counter.js';
import type { RedisKind } from './lock-grounds.js';
import { LockFleet } from './lock-fleet.js';
import { CHAOS_LOADS } from './lock-loads.js';
import { longestGap } from './lock-verdict.js';
import { monotonicNow } from './lock-worker.js';
import { sized } from './proof-scale.js';
import { QuotaFleet } from './quota-fleet.js';
import { type LoadedCall, loadFleet } from './quota-fleet-load.js';
import type { RedisServer } from './redis-server.js';

export const WINDOW_MS = sized(2_000, 10_000);
/** On a machine that is shared, a call may be on its way for longer than the guard, and nobody is to blame. */
const JUDGED_MS = sized(WINDOW_MS - 500, WINDOW_MS);
export const LIMIT = sized(30, 120);
export const DEADLINE_MS = 20_000;
/** Before the first failover and after the last, and between two, ms. */
const REST_MS = sized(500, 4_000);
/** Which the documented user may write. */
const LOCK_PREFIX = 'coordinator:failover:';
/** A lock on the master that fails. */
export const LOCK = 'one';
export const LOCK_HASH = `${LOCK_PREFIX}lk:{${LOCK}}`;
const OPEN = 'open';
const LOADED = 'loaded';
const KEEN = 'keen';
const LANES = sized(9, 18);
const CONVERSATIONS = ['one', 'two', 'three'];

/** How long after a failure each kind of work succeeded again, ms. */
export type Gaps = Record<'locks' | 'completions' | 'turns', number[]>;

/** Three pods of ours, processes that hold locks, and clients that keep both busy, on one Redis whose masters fail. */
export class FailoverRun {
  readonly failures: Failure[] = [];
  readonly gaps: Record<string, Gaps> = {};
  readonly clients: PersistentClients;
  /** Of its conversations. */
  paths: readonly string[] = [];
  readonly #over = new AbortController();
  readonly #loading: LoadedCall[] = [];
  #load: Promise<readonly LoadedCall[]> | undefined;
  #rest: Promise<unknown> | undefined;

  private constructor(
    readonly fleet: QuotaFleet,
    readonly locks: LockFleet,
    readonly counters: FencedCounters,
    /** Whose limit is judged. */
    readonly model: string,
  ) {
    this.clients = new PersistentClients(fleet, KEEN, this.#over.signal);
  }

  /** Those of the model whose limit is judged. */
  get calls(): readonly LoadedCall[] {
    return this.#loading;
  }

  /** @param replicas how many must have a turn before it is acknowledged */
  static async start(redis: RedisKind, guard: RedisServer, replicas: number): Promise<FailoverRun> {
    const limits = { windows: [{ windowMs: WINDOW_MS, requests: LIMIT }] };
    const model = await modelOn(redis, limits);
    const fleet = await QuotaFleet.start({
      models: {
        [model]: { limits: { ...limits, whenStoreDown: 'refuse' } },
        [OPEN]: { limits: { rpm: 60_000, whenStoreDown: 'refuse' } },
      },
      judged: { [model]: `window=${String(JUDGED_MS / 1_000)}s` },
      callers: { [LOADED]: {}, [KEEN]: {} },
      environment: { REQUEST_DEADLINE_MS: String(DEADLINE_MS) },
      ...(replicas > 0 && { file: { conversations: { replicas } } }),
      redis,
    });
    const storeOptions = redis.options(LOCK_PREFIX);
    const locks = await LockFleet.start({ size: 2, storeOptions, guard, loads: CHAOS_LOADS });
    const run = new FailoverRun(fleet, locks, new FencedCounters(guard), model);
    await run.#begin();
    return run;
  }

  async kill(): Promise<void> {
    this.#over.abort();
    await Promise.all([this.#load, this.#rest]);
    this.counters.close();
    await this.locks.kill();
    await this.fleet.close();
  }

  /** Lets a master go, and waits until everything works again. */
  async survive(failover: Failover): Promise<void> {
    await sleep(REST_MS);
    const [failedAt, lockedFrom] = [performance.now(), monotonicNow()];
    await failover.fail();
    const work = { completions: (): readonly LoadedCall[] => this.#loading, turns: () => this.clients.turnCalls };
    const isBack = monotonicNow();
    await eventually(() => Number.isFinite(this.#lockedAt(isBack)), FAILOVER_MS);
    const until = monotonicNow();
    for (const calls of Object.values(work))
      await eventually(() => Number.isFinite(gapAfter(calls(), failedAt)), FAILOVER_MS);
    const gaps = (this.gaps[failover.name] ??= { locks: [], completions: [], turns: [] });
    gaps.locks.push(Math.round(longestGap(this.locks.sections, LOCK, { from: lockedFrom, until })));
    gaps.completions.push(gapAfter(work.completions(), failedAt));
    gaps.turns.push(gapAfter(work.turns(), failedAt));
    if (failover.keepsAll !== true) this.failures.push({ from: failedAt, until: performance.now() });
    await failover.mend();
  }

  /** Ends the load. @returns what was wrong with how the processes ended */
  async stop(): Promise<readonly string[]> {
    await sleep(REST_MS);
    this.#over.abort();
    await Promise.all([this.#load, this.#rest]);
    return this.locks.stop();
  }

  async #begin(): Promise<void> {
    const { clients } = this;
    const paths = await Promise.all(CONVERSATIONS.map((id) => clients.create(id, OPEN)));
    const callers = [{ name: LOADED, lanes: LANES }];
    const load = { model: this.model, callers, body: { max_tokens: 20 } };
    this.#load = loadFleet(this.fleet, load, this.#over.signal, this.#loading);
    const lanes = Array.from({ length: 2 * paths.length }, (_, lane) => clients.turn(paths, lane));
    this.#rest = Promise.all([...lanes, clients.repeat(OPEN), clients.repeat(OPEN)]);
    this.paths = paths;
    await eventually(() => Number.isFinite(this.#lockedAt(0)), FAILOVER_MS);
  }

  #lockedAt(from: number): number {
    const begun = this.locks.sections.filter(
      ({ from: at, holds }) => at > from && holds.some(({ key }) => key === LOCK),
    );
    return Math.min(...begun.map(({ from: at }) => at));
  }
}

/** One whose limit is kept on the master that keeps the lock: in a cluster they would lie anywhere. */
async function modelOn(redis: RedisKind, limits: ScopeLimits): Promise<string> {
  const { port } = await redis.serverOf(LOCK_HASH);
  for (let number = 0; number < 200; number += 1) {
    const model = `judged-${String(number)}`;
    const [key = ''] = scopeKeys('coordinator:', { name: `model:${model}`, rules: scopeRules(limits) });
    if ((await redis.serverOf(key)).port === port) return model;
  }
  throw new Error('no model is kept there');
}
