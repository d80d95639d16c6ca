import { hash } from 'node:crypto';
import { Redis } from 'ioredis';
import { RedisAdmissionStore, type ScopeLimits, scopeRules, type ScopeState } from '../../src/admission/index.js';
import { RedisStore } from '../../src/store/index.js';
import { postCompletion } from './completion-rig.js';
import { type ConfigFile, modelAt, openTiers, providerAt, writeConfig } from './config-file.js';
import type { RedisKind } from './lock-grounds.js';
import { type JudgeProcess, spawnJudge } from './quota-fleet-judge.js';
import type { Asked, UsageAnswer } from './quota-rig.js';
import { type RedisServer, startRedisServer } from './redis-server.js';
import { booksOf, type QuotaBooks, simulatorAt } from './simulator.js';
import { type SpawnedServer, spawnServer } from './spawned-server.js';

export const PODS = 3;

export interface QuotaFleetOptions {
  /** Further members of the models, by name; each is served by the judge, at 2 and 8 USD per million tokens. */
  readonly models: Readonly<Record<string, object>>;
  /** By name; the name is the key as well. Default: everybody is `anonymous`. */
  readonly callers?: Readonly<Record<string, object>>;
  /** The judge's limits, by model. */
  readonly judged?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Further members of the file. */
  readonly file?: object;
  /** The one that its pods are on, which it does not end; default: a server of its own. */
  readonly redis?: Pick<RedisKind, 'servers' | 'environment'>;
}

export interface FleetAsked extends Asked {
  readonly model: string;
  readonly pod?: number;
}

interface FleetGround {
  readonly file: ConfigFile;
  readonly judge: JudgeProcess;
  readonly environment: Readonly<Record<string, string>>;
  readonly isRedisOwn: boolean;
}

let prompts = 0;

/**
 * This service as a fleet of processes on one Redis, before the judge. The judge is a process of its own, so that its clock is at
 * nobody's mercy.
 */
export class QuotaFleet {
  readonly judge: ReturnType<typeof simulatorAt>;
  /** A client of Redis that looks on. */
  readonly admin: Redis;

  private constructor(
    private readonly ground: FleetGround,
    readonly redis: RedisServer,
    readonly pods: SpawnedServer[],
  ) {
    this.judge = simulatorAt(ground.judge.url);
    this.admin = new Redis(redis.port, redis.host, { ...(redis.tls && { tls: redis.tls.shown }) });
    this.admin.on('error', () => undefined);
  }

  static async start(options: QuotaFleetOptions): Promise<QuotaFleet> {
    const file = await writeConfig({ ...configurationOf(options), ...options.file });
    const [first] = options.redis?.servers ?? [];
    const [judge, redis] = await Promise.all([spawnJudge(file.path), first ?? startRedisServer()]);
    const environment = {
      ...(options.redis?.environment ?? { REDIS_URL: `redis://${redis.host}:${String(redis.port)}` }),
      CONFIG_FILE: file.path,
      EXPECTED_PODS: String(PODS),
      JUDGE_KEY: 'none',
      JUDGE_URL: judge.url,
      ...options.environment,
    };
    const pods = await Promise.all(Array.from({ length: PODS }, () => spawnServer({ environment })));
    const fleet = new QuotaFleet({ file, judge, environment, isRedisOwn: first === undefined }, redis, pods);
    await fleet.judge.limit(options.judged ?? {});
    return fleet;
  }

  async close(): Promise<void> {
    this.admin.disconnect();
    await Promise.all(this.pods.map((pod) => pod.kill()));
    await this.ground.judge.kill();
    if (this.ground.isRedisOwn) await this.redis.stop();
    await this.ground.file.remove();
  }

  pod(index: number): SpawnedServer {
    const pod = this.pods[index % this.pods.length];
    if (pod === undefined) throw new RangeError(`there is no pod ${String(index)}`);
    return pod;
  }

  /** In the place of one that was killed. */
  async replace(index: number): Promise<void> {
    this.pods[index] = await spawnServer({ environment: this.ground.environment });
  }

  /** Each with a prompt of its own. */
  ask({ model, pod = 0, caller, headers = {}, signal, body = {} }: FleetAsked): Promise<Response> {
    prompts += 1;
    const messages = [{ role: 'user', content: `echo:${String(prompts)}` }];
    const authorization = caller === undefined ? {} : { authorization: `Bearer ${caller}` };
    return postCompletion(this.pod(pod).url, { model, messages, ...body }, { ...authorization, ...headers }, signal);
  }

  async books(model: string): Promise<QuotaBooks> {
    return booksOf(await this.judge.stats(), model);
  }

  async usage(caller: string, pod = 0): Promise<UsageAnswer> {
    const response = await fetch(`${this.pod(pod).url}/v1/usage`, { headers: { authorization: `Bearer ${caller}` } });
    return (await response.json()) as UsageAnswer;
  }

  /** A counter or gauge with all these labels, summed up over the pods that answer. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const texts = await Promise.all(
      this.pods.map(({ url }) =>
        fetch(`${url}/metrics`).then(
          (response) => response.text(),
          () => '',
        ),
      ),
    );
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const lines = texts.flatMap((text) => [...text.matchAll(/^(\w+)(\{.*\})? (\S+)$/gm)]);
    return lines
      .filter(([, found, all = '']) => found === name && wanted.every((one) => all.includes(one)))
      .reduce((sum, [, , , value]) => sum + Number(value), 0);
  }

  /** What Redis has of a scope, e.g. `model:gpt-4.1`. */
  async inspect(name: string, limits: ScopeLimits): Promise<ScopeState> {
    const { host, port } = this.redis;
    const store = new RedisStore({ kind: 'standalone', host, port, db: 0, tls: false, keyPrefix: 'coordinator:' });
    try {
      return await new RedisAdmissionStore(store).inspect({ name, rules: scopeRules(limits) });
    } finally {
      await store.close();
    }
  }

  /** The keys of Redis that never end by themselves. */
  async endlessKeys(): Promise<readonly string[]> {
    const keys = await this.admin.keys('*');
    const ttls = await Promise.all(keys.map((key) => this.admin.pttl(key)));
    return keys.filter((_, index) => ttls[index] === -1);
  }
}

function configurationOf({ models, callers = {} }: QuotaFleetOptions): object {
  const names = Object.keys(models);
  const own = { simulated: { firstTokenMs: 0, tokensPerSecond: 100_000 }, tokenizer: { encoding: 'o200k', ratio: 1 } };
  return {
    // The judge reads the same file, before it has an address.
    providers: [providerAt('judge', '${JUDGE_URL:-http://127.0.0.1:9/v1}')],
    models: Object.entries(models).map(([name, more]) => modelAt('judge', name, { ...own, ...more })),
    tiers: openTiers(names),
    callers: Object.entries(callers).map(([name, more]) => ({
      name,
      keySha256: hash('sha256', name),
      tier: 'enterprise',
      ...more,
    })),
  };
}
