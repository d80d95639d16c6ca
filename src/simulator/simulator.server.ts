import { setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import { ChatAdmission } from './endpoint/chat.admission.js';
import { ChatEndpoint } from './endpoint/chat.endpoint.js';
import { ControlEndpoint } from './endpoint/control.endpoint.js';
import { Exchange } from './wire/exchange.js';
import { ModelCatalogue } from './endpoint/model.catalogue.js';
import { PromptCache } from './reply/prompt.cache.js';
import { ProviderEndpoint } from './endpoint/provider.endpoint.js';
import { ProviderError, typicalError } from './provider.error.js';
import { QuotaControl } from './endpoint/quota.control.js';
import { QuotaJudge } from './quota/quota.judge.js';
import { ScriptQueue } from './script/script.queue.js';
import { checkOptions, type SimulatorOptions } from './simulator.options.js';
import { TokenCounters } from '../tokens/index.js';
import { TrafficStats } from './traffic/traffic.stats.js';

export interface Simulator {
  /** Base URL for clients, ends in `/v1`. The control endpoints are beside it: `/control/script`, `/control/limits` and `/stats`. */
  readonly url: string;
  /** Ends all connections and timers. Idempotent. */
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;
// Longer than any client's pool keeps a connection, so that none is closed under a request.
const KEEP_ALIVE_MS = 120_000;

/**
 * Starts an OpenAI-compatible provider on a loopback port.
 * @throws RangeError on bad options; the system's error when the port is taken.
 * @example
 * const simulator = await startSimulator({ models: [model], speed: 100 });
 * const client = new OpenAI({ baseURL: simulator.url, apiKey: 'any' });
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  checkOptions(options);
  const counters = new TokenCounters();
  try {
    return await start(options, counters);
  } catch (error) {
    await counters.close();
    throw error;
  }
}

async function start(options: SimulatorOptions, counters: TokenCounters): Promise<Simulator> {
  const closing = new AbortController();
  // One listener per open request.
  setMaxListeners(0, closing.signal);
  const models = new ModelCatalogue(options.models, counters);
  await models.warmUp();
  const answer = createAnswer(options, models);
  const server = createServer((request, response) => {
    void serve(new Exchange(request, response, closing.signal), answer);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(server, options.port ?? 0);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://${HOST}:${String(port)}/v1`,
    close: async () => {
      await close(server, closing);
      await counters.close();
    },
  };
}

type Answer = (exchange: Exchange, url: URL) => Promise<void>;

function createAnswer(options: SimulatorOptions, models: ModelCatalogue): Answer {
  const { speed = 1, seed = 1, apiKeys = [] } = options;
  const scripts = new ScriptQueue(seed);
  const stats = new TrafficStats();
  const judge = new QuotaJudge();
  const quotas = new QuotaControl(judge, models);
  quotas.limit(options.limits ?? {});
  const control = new ControlEndpoint(scripts, stats, quotas);
  const admission = new ChatAdmission(models, judge);
  const chat = new ChatEndpoint(models, new PromptCache(), seed);
  const provider = new ProviderEndpoint({ speed, seed, apiKeys }, models, chat, { scripts, stats, admission });
  return async (exchange, url) => {
    if (!(await control.answer(exchange, url))) {
      await provider.answer(exchange, url);
    }
  };
}

async function serve(exchange: Exchange, answer: Answer): Promise<void> {
  try {
    checkHost(exchange);
    await answer(exchange, urlOf(exchange));
  } catch (error) {
    if (exchange.isGone) {
      return;
    }
    const refusal = error instanceof ProviderError ? error : unexpected(error);
    if (exchange.response.headersSent) {
      exchange.reset();
    } else {
      exchange.sendJson(refusal.status, refusal.body, refusal.headers);
    }
  }
}

/** A fault of the simulator's own: loud for its developers, a plain 500 for clients. */
function unexpected(error: unknown): ProviderError {
  process.emitWarning(error instanceof Error ? error : String(error));
  return typicalError(500);
}

/** A page that has its own name resolve to this machine (DNS rebinding) must not read prompts from /stats, nor script failures. */
function checkHost({ request }: Exchange): void {
  if (!LOOPBACK_HOST.test(request.headers.host ?? ''))
    throw new ProviderError(403, 'Only loopback host names are answered');
}

function urlOf({ request }: Exchange): URL {
  const path = request.url ?? '/';
  if (!URL.canParse(path, `http://${HOST}`)) {
    throw new ProviderError(404, `Invalid URL (${request.method ?? ''} ${path})`);
  }
  return new URL(path, `http://${HOST}`);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, HOST, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

async function close(server: Server, closing: AbortController): Promise<void> {
  closing.abort(new Error('the simulator closes'));
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}
