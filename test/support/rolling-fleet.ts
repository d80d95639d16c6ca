import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RedisAdmissionStore, scopeRules, type ScopeState } from '../../src/admission/index.js';
import { RedisStore } from '../../src/store/index.js';
import { type ConfigFile, modelAt, openTiers, providerAt, writeConfig } from './config-file.js';
import { eventually } from './eventually.js';
import { Haproxy } from './haproxy.js';
import { ROOT } from './planted-project.js';
import { type JudgeProcess, spawnJudge } from './quota-fleet-judge.js';
import { ask, type RedisSentinel, startRedisSentinel } from './redis-sentinel.js';
import { type RedisServer, startRedisServer } from './redis-server.js';
import { simulatorAt } from './simulator.js';
import { type SpawnedServer, spawnServer } from './spawned-server.js';

export const PODS = 3;
/** Twice as many: while the last ones drain, new ones are there. */
const SLOTS = 2 * PODS;
/** Of everybody; also the key. */
export const CALLER = 'roller';
export const ROLLED_MODEL = 'rolled';
const LIMITS = { rpm: 1_000_000, tpm: 1_000_000_000, concurrency: 10_000 };
const BUDGET_USD = 1_000_000;

export interface RollingOptions {
  /** Default: standalone. */
  readonly topology?: 'standalone' | 'sentinel';
  /** The model's pace. */
  readonly tokensPerSecond: number;
  /** On top of the usual ones. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What the store has of work; all of it 0 where there is none. */
export interface LeftWork {
  /** Held or waited for. */
  readonly locks: readonly string[];
  /** Of the model and of the caller's budget. */
  readonly open: number;
  readonly queued: number;
  readonly reservedMicroUsd: number;
  readonly reservedTokens: number;
}

interface Ground {
  readonly file: ConfigFile;
  readonly judge: JudgeProcess;
  readonly sentinel: RedisSentinel | undefined;
  readonly redis: RedisServer | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

/** Pods of this service behind a HAProxy, on one Redis, before the simulator: processes all of them. */
export class RollingFleet {
  readonly judge: ReturnType<typeof simulatorAt>;
  /** Those that are to serve. */
  readonly pods: SpawnedServer[] = [];
  /** Every pod that ever was. */
  readonly all: SpawnedServer[] = [];

  private constructor(
    private readonly ground: Ground,
    readonly balancer: Haproxy,
  ) {
    this.judge = simulatorAt(ground.judge.url);
  }

  static async start(options: RollingOptions): Promise<RollingFleet> {
    const file = await writeConfig(configuration(options.tokensPerSecond));
    const sentinel = options.topology === 'sentinel' ? await startRedisSentinel() : undefined;
    const redis = sentinel === undefined ? await startRedisServer() : undefined;
    const judge = await spawnJudge(file.path);
    const environment = {
      ...storeVariables(sentinel, redis),
      CONFIG_FILE: file.path,
      EXPECTED_PODS: String(PODS),
      TRUST_PROXY: '127.0.0.1',
      JUDGE_KEY: 'none',
      JUDGE_URL: judge.url,
      ...options.environment,
    };
    const balancer = await Haproxy.start(SLOTS);
    const fleet = new RollingFleet({ file, judge, sentinel, redis, environment }, balancer);
    await Promise.all(Array.from({ length: PODS }, () => fleet.add()));
    await balancer.serving(PODS);
    return fleet;
  }

  get url(): string {
    return this.balancer.url;
  }

  /** One more pod, which gets calls once it is ready. @param environment - in place of that of all */
  async add(environment: Readonly<Record<string, string>> = {}): Promise<SpawnedServer> {
    const pod = await this.#boot(environment);
    await eventually(async () => (await fetch(`${pod.url}/ready`)).ok);
    await this.balancer.add(pod.url);
    this.pods.push(pod);
    return pod;
  }

  /** The one that has been there longest is not to serve any more; it is the caller's to end. */
  retireOldest(): SpawnedServer {
    const pod = this.pods.shift();
    if (pod === undefined) throw new RangeError('there are no pods');
    return pod;
  }

  async leftWork(): Promise<LeftWork> {
    const { host, port } = await this.master();
    const store = new RedisStore({ kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'coordinator:' });
    const admission = new RedisAdmissionStore(store);
    const budgets = [{ unit: 'usd', period: 'day', limit: BUDGET_USD * 1_000_000 }] as const;
    try {
      const scopes = await Promise.all([
        admission.inspect({ name: `model:${ROLLED_MODEL}`, rules: scopeRules(LIMITS) }),
        admission.inspect({ name: `budget:${CALLER}`, rules: scopeRules({ budgets }) }),
      ]);
      // The sets of holders and of waiters, which are there only while somebody holds or waits.
      const locks = await this.#look((client) => client.keys('coordinator:lk:{*}:[eq]'));
      return { locks, ...sumOf(scopes) };
    } finally {
      await store.close();
    }
  }

  /** The keys of Redis that never end by themselves. */
  endlessKeys(): Promise<readonly string[]> {
    return this.#look(async (client) => {
      const keys = await client.keys('*');
      const ttls = await Promise.all(keys.map((key) => client.pttl(key)));
      return keys.filter((_, index) => ttls[index] === -1);
    });
  }

  async master(): Promise<RedisServer> {
    const { sentinel, redis } = this.ground;
    const master = redis ?? (await sentinel?.master());
    if (master === undefined) throw new Error('there is no Redis');
    return master;
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map((pod) => pod.kill()));
    await this.balancer.stop();
    await this.ground.judge.kill();
    await this.ground.sentinel?.stop();
    await this.ground.redis?.stop();
    await this.ground.file.remove();
  }

  async #boot(more: Readonly<Record<string, string>>): Promise<SpawnedServer> {
    const nodeOptions = ['--import', `${ROOT}test/support/visits-module.mjs`];
    const pod = await spawnServer({ environment: { ...this.ground.environment, ...more }, nodeOptions });
    this.all.push(pod);
    return pod;
  }

  async #look<Found>(at: (client: Redis) => Promise<Found>): Promise<Found> {
    return ask(await this.master(), at);
  }
}

function sumOf(scopes: readonly ScopeState[]): Omit<LeftWork, 'locks'> {
  const sum = (of: (scope: ScopeState) => number): number => scopes.reduce((total, scope) => total + of(scope), 0);
  return {
    open: sum(({ open }) => open),
    queued: sum(({ queued }) => queued),
    reservedMicroUsd: sum(({ reserved }) => reserved.microUsd),
    reservedTokens: sum(({ reserved }) => reserved.tokens),
  };
}

function storeVariables(sentinel?: RedisSentinel, redis?: RedisServer): Readonly<Record<string, string>> {
  const place = ({ host, port }: RedisServer): string => `${host}:${String(port)}`;
  if (redis !== undefined) return { REDIS_URL: `redis://${place(redis)}` };
  if (sentinel === undefined) return {};
  return { REDIS_SENTINELS: sentinel.sentinels.map(place).join(','), REDIS_SENTINEL_MASTER: sentinel.masterName };
}

/** Everything has a limit and a price, so that everything is reserved and booked; none is ever reached. */
function configuration(tokensPerSecond: number): object {
  const simulated = { firstTokenMs: 50, tokensPerSecond };
  const tokenizer = { encoding: 'o200k', ratio: 1 };
  return {
    // The judge reads the same file, before it has an address.
    providers: [providerAt('judge', '${JUDGE_URL:-http://127.0.0.1:9/v1}')],
    models: [modelAt('judge', ROLLED_MODEL, { limits: LIMITS, cacheTtlMs: 60_000, simulated, tokenizer })],
    tiers: openTiers([ROLLED_MODEL]),
    callers: [
      { name: CALLER, keySha256: hash('sha256', CALLER), tier: 'enterprise', budget: { usdPerDay: BUDGET_USD } },
    ],
  };
}
