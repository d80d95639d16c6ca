import type {
  ConversationDraft,
  ConversationStore,
  NewMessage,
  Place,
  TurnEnd,
  TurnNews,
  TurnStart,
} from '../../src/conversation/store/index.js';
import { loadConversationScripts, loadOwnerScripts } from '../../src/conversation/store/conversation.scripts.js';
import { MemoryConversationStore } from '../../src/conversation/store/memory-conversation.store.js';
import { RedisConversationStore } from '../../src/conversation/store/redis-conversation.store.js';
import { CLOCK_KEY, clockedRedis, type ClockedServer, settleInProcess, type TestClock } from './clocked-redis.js';
import type { ClockedTopology } from './clocked-topology.js';

export const START_MS = 1_764_421_836_000;
export const PROCESSES = ['p1', 'p2'] as const;
export const PLACE: Place = { owner: 'shop', id: 'c1' };
export const KEEP_MS = 86_400_000;

/** A store of conversations in the test's time, with what its processes were told. */
export interface ConversationBench {
  readonly store: ConversationStore;
  readonly clock: TestClock;
  /** What was told since the last call: process, then news. */
  heard(): Promise<readonly (readonly [string, TurnNews])[]>;
  /** May be called again. */
  close(): Promise<void>;
}

export type RedisConversationBench = ConversationBench & ClockedServer;

export async function memoryConversationBench(
  clock: TestClock = { us: START_MS * 1_000 },
): Promise<ConversationBench & { readonly store: MemoryConversationStore }> {
  const store = new MemoryConversationStore(() => clock.us);
  const heard = await listen(store, settleInProcess);
  return { store, clock, heard, close: () => Promise.resolve() };
}

export async function redisConversationBench(
  address: { readonly host: string; readonly port: number },
  prefix: string,
  clock: TestClock = { us: START_MS * 1_000 },
): Promise<RedisConversationBench> {
  const server = clockedRedis(address, prefix, clock);
  const options = { clock: { key: CLOCK_KEY } };
  const scripts = { conversation: loadConversationScripts(options), owner: loadOwnerScripts(options) };
  const store = new RedisConversationStore(server.redis, undefined, scripts);
  const heard = await listen(store, () => server.redis.settle());
  return { ...server, store, clock, heard };
}

/** On Redis of any kind, over the store that production has. */
export async function conversationBenchOn(redis: ClockedTopology, keyPrefix: string): Promise<ConversationBench> {
  const ground = await redis.ground(keyPrefix, START_MS * 1_000, (options) => ({
    ...loadConversationScripts(options),
    ...loadOwnerScripts(options),
  }));
  const store = new RedisConversationStore(ground.store);
  return { store, clock: ground.clock, heard: await listen(store, ground.settle), close: ground.close };
}

export function draft(rest: Partial<ConversationDraft> = {}): ConversationDraft {
  return {
    ...{ title: undefined, model: undefined, system: undefined, systemTokens: [], metadata: {}, keepMs: KEEP_MS },
    ...rest,
  };
}

export function message(role: NewMessage['role'], content: string, rest: Partial<NewMessage> = {}): NewMessage {
  return {
    ...{ role, content, isJson: false, toolCalls: undefined, calls: [], toolCallId: undefined, model: undefined },
    ...{ usage: undefined, finishReason: undefined, tokens: [] },
    ...rest,
  };
}

/** A turn that asks its own token. */
export function start(token: string, fence: number, rest: Partial<TurnStart> = {}): TurnStart {
  return {
    ...{ token, fence, process: 'p1', key: undefined, ifVersion: undefined, model: 'gpt-4.1', request: '{}' },
    messages: [message('user', `ask ${token}`)],
    replaces: undefined,
    ...rest,
  };
}

export function end(fence: number, rest: Partial<TurnEnd> = {}): TurnEnd {
  return {
    ...{ fence, status: 'complete', window: undefined, error: undefined, head: undefined, events: [] },
    messages: [message('assistant', 'answer')],
    ...rest,
  };
}

/** A whole turn. @returns its id */
export async function turn(
  store: ConversationStore,
  token: string,
  fence: number,
  rest: { readonly start?: Partial<TurnStart>; readonly end?: Partial<TurnEnd>; readonly place?: Place } = {},
): Promise<string> {
  const place = rest.place ?? PLACE;
  const started = await store.startTurn(place, start(token, fence, rest.start));
  if (started.kind !== 'started') throw new Error(`the turn ${token} is ${started.kind}`);
  const ended = await store.endTurn(place, started.turn.id, end(fence, rest.end));
  if (ended.kind !== 'ended') throw new Error(`the end of turn ${token} is ${ended.kind}`);
  return started.turn.id;
}

async function listen(store: ConversationStore, settle: () => Promise<void>): Promise<ConversationBench['heard']> {
  const news: (readonly [string, TurnNews])[] = [];
  for (const name of PROCESSES) await store.subscribe(name, (told) => news.push([name, told]));
  return async () => {
    await settle();
    // Channels have no order among each other.
    return news.splice(0).sort(([one], [other]) => one.localeCompare(other));
  };
}
