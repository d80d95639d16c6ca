import { type Answer, messages, postCompletion, readAnswer } from './completion-rig.js';
import { type Coordinator, type CoordinatorOptions, startCoordinator } from './coordinator.js';
import { type RedisServer, startRedisServer } from './redis-server.js';
import { type ScriptedUpstream, startScriptedUpstream } from './scripted-upstream.js';

export const ACME = { authorization: 'Bearer acme-key-1234567890' };
export const GLOBEX = { authorization: 'Bearer globex-key-1234567890' };

/** The keys of both, in the environment. */
export const CALLER_KEYS = 'acme:pro:acme-key-1234567890,globex:pro:globex-key-1234567890';

export interface AskOptions {
  readonly pod?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Pods on one Redis before one scripted provider, and a raw client of them. */
export class ReuseRig {
  private constructor(
    readonly redis: RedisServer,
    readonly upstream: ScriptedUpstream,
    readonly pods: readonly Coordinator[],
  ) {}

  static async start(pods: number, options: Partial<CoordinatorOptions> = {}): Promise<ReuseRig> {
    const redis = await startRedisServer();
    const upstream = await startScriptedUpstream();
    const environment = { REDIS_URL: `redis://${redis.host}:${redis.port}`, CALLER_KEYS, ...options.environment };
    const upstreams = [upstream.url];
    const start = (): Promise<Coordinator> =>
      startCoordinator({ cacheTtl: '300s', ...options, upstreams, environment });
    return new ReuseRig(redis, upstream, await Promise.all(Array.from({ length: pods }, start)));
  }

  async close(): Promise<void> {
    await Promise.all(this.pods.map((pod) => pod.close()));
    await this.upstream.close();
    await this.redis.stop();
  }

  /** How many completions the provider was asked for. */
  get calls(): number {
    return this.upstream.requests.length;
  }

  send(body: object = {}, { pod = 0, headers = {}, signal }: AskOptions = {}): Promise<Response> {
    const at = this.pods[pod];
    if (at === undefined) throw new RangeError(`no pod ${String(pod)}`);
    return postCompletion(at.url, { model: 'test-model', messages, ...body }, { ...ACME, ...headers }, signal);
  }

  async ask(body: object = {}, options: AskOptions = {}): Promise<Answer> {
    return readAnswer(await this.send(body, options));
  }
}

/** `x-coordinator-cache`. */
export function met({ headers }: Pick<Answer, 'headers'>): string {
  return headers.get('x-coordinator-cache') ?? '';
}

/** A gate in an upstream's script. */
export class Gate {
  readonly #open: Promise<void>;
  #release: () => void = () => undefined;

  constructor() {
    this.#open = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  open(): void {
    this.#release();
  }

  passed(): Promise<void> {
    return this.#open;
  }
}
