import { request, type IncomingHttpHeaders } from 'node:http';
import type { CompletionUsage } from 'openai/resources/completions';
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionMessageFunctionToolCall,
} from 'openai/resources/chat/completions';
import { startSimulator, type SimulatedModel, type SimulatorOptions } from '../../src/simulator/index.js';

/** Fast enough for tests; `slow` is for those that need time between two tokens. */
export const TEST_MODELS: readonly SimulatedModel[] = [
  model('gpt-4.1', { aliases: ['gpt-4.1-2025-04-14'] }),
  model('claude-sonnet-4.5', { tokenizer: { encoding: 'o200k', ratio: 1.1 } }),
  model('gemini-2.5-flash', { separateInputLimit: true }),
  model('tiny', { contextWindow: 200, maxOutputTokens: 50 }),
  model('slow', { firstTokenMs: 50, tokensPerSecond: 20 }),
];

function model(name: string, differences: Partial<SimulatedModel> = {}): SimulatedModel {
  return {
    name,
    contextWindow: 1_000_000,
    maxOutputTokens: 32_000,
    tokenizer: { encoding: 'o200k', ratio: 1 },
    firstTokenMs: 0,
    tokensPerSecond: 1_000_000,
    ...differences,
  };
}

export interface SimulatorStats {
  readonly requests: {
    readonly total: number;
    readonly byModel: Record<string, number>;
    readonly byStatus: Record<string, number>;
  };
  readonly otherRequests: Record<string, number>;
  readonly inFlight: number;
  readonly peakInFlight: number;
  readonly abortedByClient: number;
  readonly billed: Billed;
  readonly quotas: readonly QuotaBooks[];
  readonly lastRequests: readonly {
    readonly id: string;
    readonly path: string;
    readonly model: string;
    readonly status?: number;
    readonly outcome: string;
    readonly headers: IncomingHttpHeaders;
    readonly rawBody: string;
    readonly bodyBytes: number;
    readonly body?: unknown;
  }[];
}

/** The judge's books of one model and key. */
export interface QuotaBooks {
  readonly model: string;
  readonly key: string;
  readonly seen: number;
  readonly admitted: number;
  readonly refused: { readonly requests: number; readonly tokens: number; readonly concurrency: number };
  readonly inFlight: number;
  readonly peakInFlight: number;
  readonly aborted: number;
  readonly billed: Billed;
  readonly billedPartly: Billed;
  readonly concurrency?: number;
  readonly tokenRule: string;
  readonly windows: readonly {
    readonly windowMs: number;
    readonly requests: { readonly limit?: number; readonly used: number; readonly most: number };
    readonly tokens: { readonly limit?: number; readonly used: number; readonly most: number };
  }[];
}

interface Billed {
  readonly replies: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

export interface TestSimulator {
  readonly url: string;
  readonly origin: string;
  /** Queues scripts; throws the simulator's message when it refuses them. */
  script(...scripts: readonly object[]): Promise<void>;
  /** Sets limits by model; those models' windows begin empty. Throws the simulator's message when it refuses them. */
  limit(limits: Readonly<Record<string, string>>): Promise<void>;
  stats(query?: string): Promise<SimulatorStats>;
  /** Resolves with the stats as soon as they are as wished. */
  statsWhen(isWished: (stats: SimulatorStats) => boolean): Promise<SimulatorStats>;
  /** Clears scripts and stats; limits stay. */
  reset(): Promise<void>;
  chat(body: object, headers?: Record<string, string>): Promise<RawReply>;
  close(): Promise<void>;
}

export async function startTestSimulator(options: Partial<SimulatorOptions> = {}): Promise<TestSimulator> {
  const running = await startSimulator({ models: TEST_MODELS, seed: 7, ...options });
  return { ...simulatorAt(running.url), close: () => running.close() };
}

/** One that runs already, here or in a process of its own. @param url ends in /v1 */
export function simulatorAt(url: string): Omit<TestSimulator, 'close'> {
  const origin = url.replace(/\/v1$/, '');
  const stats = async (query = ''): Promise<SimulatorStats> =>
    (await (await fetch(`${origin}/stats${query}`)).json()) as SimulatorStats;
  return {
    url,
    origin,
    stats,
    chat: (body, headers) => post(`${url}/chat/completions`, JSON.stringify(body), headers),
    script: async (...scripts) => {
      const reply = await post(`${origin}/control/script`, JSON.stringify(scripts));
      if (reply.status !== 201) throw new Error(reply.text);
    },
    limit: async (limits) => {
      const reply = await post(`${origin}/control/limits`, JSON.stringify(limits));
      if (reply.status !== 200) throw new Error(reply.text);
    },
    statsWhen: async (isWished) => {
      for (;;) {
        const current = await stats();
        if (isWished(current)) return current;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    reset: async () => {
      await fetch(`${origin}/control/script`, { method: 'DELETE' });
      await fetch(`${origin}/stats`, { method: 'DELETE' });
    },
  };
}

/** The judge's books of one model and key. @param key as shown: `…` and its last four characters, or `none` */
export function booksOf({ quotas }: SimulatorStats, model: string, key = 'none'): QuotaBooks {
  const found = quotas.find((books) => books.model === model && books.key === key);
  if (found === undefined) throw new Error(`no books of ${model} and ${key} in ${JSON.stringify(quotas)}`);
  return found;
}

/** What a client without any opinion saw. */
export interface RawReply {
  /** 0: the connection ended before a head. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body's writes as they arrived. */
  readonly chunks: readonly Buffer[];
  readonly text: string;
  readonly end: 'complete' | 'cut' | 'reset';
}

/** Posts on a connection of its own. With a `signal` the client leaves when it aborts, and the promise resolves all the same. */
export function post(
  url: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<RawReply> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status = 0;
    let answered: IncomingHttpHeaders = {};
    const settle = (end: RawReply['end']): void => {
      resolve({ status, headers: answered, chunks, text: Buffer.concat(chunks).toString(), end });
    };
    const call = request(url, { method: 'POST', agent: false, headers, ...(signal && { signal }) }, (response) => {
      status = response.statusCode ?? 0;
      answered = response.headers;
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', () => undefined);
      response.once('close', () => {
        settle(response.complete ? 'complete' : 'cut');
      });
    });
    call.once('error', () => {
      settle(status === 0 ? 'reset' : 'cut');
    });
    call.end(body);
  });
}

export function completionOf(reply: RawReply): ChatCompletion {
  return JSON.parse(reply.text) as ChatCompletion;
}

/** The first choice's message. */
export function messageOf(reply: RawReply): ChatCompletion.Choice['message'] {
  const message = completionOf(reply).choices[0]?.message;
  if (message === undefined) throw new Error(`no message in ${reply.text}`);
  return message;
}

/** The first choice's text. */
export function textOf(reply: RawReply): string {
  return messageOf(reply).content ?? '';
}

export function usageOf(reply: RawReply): CompletionUsage {
  const { usage } = completionOf(reply);
  if (usage === undefined) throw new Error(`no usage in ${reply.text}`);
  return usage;
}

/** The calls of the first choice's message. */
export function callsOf(reply: RawReply): readonly ChatCompletionMessageFunctionToolCall[] {
  return (messageOf(reply).tool_calls ?? []).filter((call) => call.type === 'function');
}

export interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

export function errorOf(reply: RawReply): ErrorBody {
  return (JSON.parse(reply.text) as { error: ErrorBody }).error;
}

/** The JSON of every `data:` line but `[DONE]`. */
export function chunksOf(text: string): ChatCompletionChunk[] {
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]');
  return lines.map((line) => JSON.parse(line.slice(6)) as ChatCompletionChunk);
}

/** The text that a stream delivered. */
export function streamedText(text: string): string {
  return chunksOf(text)
    .map((chunk) => chunk.choices[0]?.delta.content ?? '')
    .join('');
}
