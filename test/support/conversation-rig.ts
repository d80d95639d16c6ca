import { AuthModule, configureAuth } from '../../src/auth/index.js';
import { ConversationModule, TurnRunner, type ConversationSettings } from '../../src/conversation/index.js';
import type { ConversationStore } from '../../src/conversation/store/index.js';
import { MemoryConversationStore } from '../../src/conversation/store/memory-conversation.store.js';
import { CHAT_SCHEMAS } from '../../src/ai/index.js';
import { onRequestOver, serveDocs } from '../../src/http/index.js';
import { LockModule, LockService, MemoryLockStore } from '../../src/lock/index.js';
import { configureObservability, createLogger, ObservabilityModule } from '../../src/observability/index.js';
import type { AnyStore } from '../../src/store/index.js';
import { TokenCounters } from '../../src/tokens/index.js';
import { callerWithKey } from './callers.js';
import { eventually } from './eventually.js';
import { catalogue, deployment, model, provider } from './catalogues.js';
import { type Answer, readAnswer } from './completion-rig.js';
import { startHttpApp, type HttpApp } from './http-app.js';
import { Lifeline } from './mortal-store.js';
import { countPatiently } from './patient-counter.js';
import { type Script, ScriptedGenerator } from './scripted-generator.js';

export interface RigOptions {
  readonly pods?: number;
  readonly settings?: Partial<ConversationSettings>;
  /** In place of the ones in memory, which all pods share. */
  readonly store?: AnyStore;
  readonly conversations?: ConversationStore;
  /** What the model says where nothing else was told; default: what it was asked. */
  readonly usual?: Script;
}

export interface Pod extends HttpApp {
  readonly turns: TurnRunner;
  readonly locks: LockService;
  readonly logs: string[];
  /** As after SIGKILL: it changes and renews nothing any more. Its connections stay, silent. */
  die(): void;
}

const MODELS = ['wide', 'small'];
const MEMORY: AnyStore = { kind: 'memory', health: () => ({ kind: 'memory' }) };

/** Pods with the conversations' endpoints before scripted models: `wide` (100,000 tokens, the first) and `small` (1,000). */
export class ConversationRig {
  private constructor(
    readonly pods: Pod[],
    readonly generator: ScriptedGenerator,
    private readonly options: RigOptions,
    private readonly parts: PodParts,
  ) {}

  static async start(options: RigOptions = {}): Promise<ConversationRig> {
    const generator = new ScriptedGenerator(options.usual);
    const counters = countPatiently(new TokenCounters());
    const conversations = options.conversations ?? new MemoryConversationStore();
    const lockStore = new MemoryLockStore();
    const pods: Pod[] = [];
    for (let pod = 0; pod < (options.pods ?? 1); pod += 1) {
      pods.push(await startPod(options, { generator, counters, conversations, lockStore }));
    }
    return new ConversationRig(pods, generator, options, { generator, counters, conversations, lockStore });
  }

  get pod(): Pod {
    return this.podAt(0);
  }

  podAt(at: number): Pod {
    const pod = this.pods[at];
    if (pod === undefined) throw new RangeError(`there is no pod ${String(at)}`);
    return pod;
  }

  async close(): Promise<void> {
    await Promise.all(this.pods.map((pod) => pod.close()));
    await this.parts.counters.close();
  }

  /** As after SIGKILL, with another process in its place. @returns to be called in the end: takes the dead one down */
  async replace(at: number): Promise<() => Promise<void>> {
    const dead = this.podAt(at);
    dead.die();
    this.pods[at] = await startPod(this.options, this.parts);
    return () => dead.close();
  }

  send(method: string, path: string, body?: unknown, how: SendOptions = {}): Promise<Response> {
    const { headers = {}, caller = 'acme', pod = 0, signal } = how;
    return fetch(`${this.podAt(pod).url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${caller}-key`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  }

  async ask(method: string, path: string, body?: unknown, how: SendOptions = {}): Promise<Answer> {
    return readAnswer(await this.send(method, path, body, how));
  }

  /** A new conversation, once the store answers: on a busy machine its first connection takes a while. @returns its path */
  async create(body: object = {}): Promise<string> {
    let answer = await this.ask('POST', '/v1/conversations', body);
    await eventually(async () => {
      if (answer.status === 503) answer = await this.ask('POST', '/v1/conversations', body);
      return answer.status !== 503;
    });
    if (answer.status !== 200) throw new Error(`no conversation: ${answer.text}`);
    return `/v1/conversations/${String(answer.body['id'])}`;
  }

  turn(path: string, body: object | string, how: SendOptions = {}): Promise<Answer> {
    return this.ask('POST', `${path}/turns`, typeof body === 'string' ? { content: body } : body, how);
  }

  /** The log, pending messages included. */
  log(path: string): Promise<readonly LogMessage[]> {
    return wholeLog((page) => this.ask('GET', page), path);
  }
}

/** Page by page: a list has 1,000 messages at most. */
export async function wholeLog(ask: (path: string) => Promise<Answer>, path: string): Promise<readonly LogMessage[]> {
  const log: LogMessage[] = [];
  let hasMore = true;
  while (hasMore) {
    const { status, body, text } = await ask(`${path}/messages?limit=1000&after=${String(log.at(-1)?.seq ?? 0)}`);
    if (status !== 200) throw new Error(`no log: ${text}`);
    log.push(...(body['data'] as readonly LogMessage[]));
    hasMore = body['has_more'] === true;
  }
  return log;
}

export interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** `acme` (default) or `other`. */
  readonly caller?: string;
  readonly pod?: number;
  readonly signal?: AbortSignal;
}

export interface LogMessage {
  readonly id: string;
  readonly seq: number;
  readonly role: string;
  readonly content: unknown;
  readonly status: string;
  readonly turn_id: string;
  readonly superseded: boolean;
  readonly tool_calls?: readonly { readonly id: string }[];
}

/** Roles and texts of a log. */
export const told = (log: readonly LogMessage[]): readonly string[] =>
  log.map(({ role, content, status }) => `${role} ${status}: ${String(content)}`);

interface PodParts {
  readonly generator: ScriptedGenerator;
  readonly counters: TokenCounters;
  readonly conversations: ConversationStore;
  readonly lockStore: MemoryLockStore;
}

async function startPod({ settings, store }: RigOptions, parts: PodParts): Promise<Pod> {
  const logs: string[] = [];
  const logger = createLogger({ level: 'debug', secrets: [] }, { write: (line) => void logs.push(line) });
  const { generator, counters, conversations, lockStore } = parts;
  const life = new Lifeline();
  const graceMs = settings?.graceMs ?? 1_000;
  const app = await startHttpApp({
    imports: [
      ObservabilityModule.forRoot({ logger }),
      AuthModule.forRoot({ callers: ['acme', 'other'].map((name) => callerWithKey(`${name}-key`, { name })) }),
      LockModule.forRoot({
        ...(store === undefined ? { lockStore: life.to(lockStore) } : { store: life.to(store) }),
        graceMs,
      }),
      ConversationModule.forRoot({
        ...{ store: store === undefined ? MEMORY : life.to(store), catalogue: models(), counters, generator },
        ...(store === undefined && { conversationStore: life.to(conversations) }),
        ...settings,
        graceMs,
      }),
    ],
    prepare: (nest) => {
      configureObservability(nest, { onOver: onRequestOver });
      configureAuth(nest);
      serveDocs(nest, { version: 'test', schemas: CHAT_SCHEMAS });
    },
  });
  const turns = app.app.get(TurnRunner, { strict: false });
  const locks = app.app.get(LockService, { strict: false });
  const die = (): void => {
    life.cut();
  };
  return { ...app, turns, locks, logs, die };
}

function models() {
  return catalogue({
    models: [
      model('wide', [deployment('one')], { contextWindow: 100_000, maxOutputTokens: 1_000 }),
      model('small', [deployment('one')]),
    ],
    providers: [provider('one', 'k1')],
    tiers: { free: MODELS, pro: MODELS, enterprise: MODELS },
  });
}
