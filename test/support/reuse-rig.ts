import { Redis } from 'ioredis';
import { type Answer, messages, postCompletion, readAnswer } from './completion-rig.js';
import { type Coordinator, type CoordinatorOptions, startCoordinator } from './coordinator.js';
import { eventually } from './eventually.js';
import { type RedisServer, startRedisServer } from './redis-server.js';
import {
  chunk,
  completion,
  DONE,
  finish,
  json,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  usageChunk,
} from './scripted-upstream.js';

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
  /** A client beside the pods' own. */
  readonly client: Redis;
  #gate = new Gate();
  #questions = 0;

  private constructor(
    readonly redis: RedisServer,
    readonly upstream: ScriptedUpstream,
    readonly pods: readonly Coordinator[],
  ) {
    this.client = new Redis(redis.port, redis.host);
    this.client.on('error', () => undefined);
  }

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
    this.client.disconnect();
    this.open();
    await Promise.all(this.pods.map((pod) => pod.close()));
    await this.upstream.close();
    await this.redis.stop();
  }

  /** Lets go what is held, and begins the books anew. */
  reset(): void {
    this.open();
    this.#gate = new Gate();
    this.upstream.play(json(200, completion()));
    this.upstream.requests.length = 0;
    this.upstream.aborted = 0;
  }

  /** Answers once it is opened. */
  held(answer: Script = json(200, completion('Hello!'))): Script {
    const gate = this.#gate;
    return async (request, response) => {
      await gate.passed();
      await answer(request, response);
    };
  }

  /** A stream that goes on after its first word once it is opened. */
  halves(): Script {
    const gate = this.#gate;
    return async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk('first '));
      await gate.passed();
      response.end(`${chunk('second')}${finish()}${usageChunk()}${DONE}`);
    };
  }

  open(): void {
    this.#gate.open();
  }

  /** A question that nobody has asked before. */
  question(more: object = {}): object {
    this.#questions += 1;
    return { messages: [{ role: 'user', content: `question ${this.#questions}` }], ...more };
  }

  called(count = 1): Promise<void> {
    return eventually(() => this.calls >= count);
  }

  /** So many requests wait for another one's answer, over all pods. */
  async waiting(count: number): Promise<void> {
    await eventually(async () => (await this.total('coordinator_joined_waiting ')) === count);
  }

  /** So many pods wait in the store for flights that other pods lead. */
  async waitingPods(count: number): Promise<void> {
    await eventually(async () => {
      const fields = await Promise.all((await this.flights()).map((name) => this.client.hkeys(name)));
      return fields.flat().filter((field) => field.startsWith('w:')).length === count;
    });
  }

  /** Keys of the calls that the store knows to be under way. */
  flights(): Promise<string[]> {
    return this.client.keys('*:flight:*');
  }

  /** The only flight goes on as if another process had led it, which gives no sign of life any more. */
  async orphan(): Promise<void> {
    const [flight = ''] = await this.flights();
    await this.client.hset(flight, 't', 'dead', 'u', String(Date.now() + 500));
  }

  /** All pods' total of a metric, by the part of its lines before their numbers. */
  async total(line: string): Promise<number> {
    const texts = await Promise.all(this.pods.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
    const lines = texts.flatMap((text) => text.split('\n').filter((each) => each.startsWith(line)));
    return lines.reduce((sum, each) => sum + Number(each.split(' ').at(-1)), 0);
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

export function isReplay({ headers }: Pick<Answer, 'headers'>): boolean {
  return headers.get('idempotent-replayed') === 'true';
}

let keys = 0;

/** The header with a key that nobody has used before. */
export function newKey(): Record<string, string> {
  keys += 1;
  return { 'idempotency-key': `key-${keys}` };
}

/** A gate in an upstream's script. */
class Gate {
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
