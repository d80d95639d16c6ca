import { checkKey, keyOf } from './api-key.check.js';
import type { LatencyProfile } from '../../config/index.js';
import type { ChatAdmission } from './chat.admission.js';
import type { ChatEndpoint } from './chat.endpoint.js';
import type { Exchange } from '../wire/exchange.js';
import { isObject } from '../request/json.checks.js';
import { LatencyClock } from '../wire/latency.clock.js';
import type { ModelCatalogue } from './model.catalogue.js';
import { methodNotAllowed, ProviderError } from '../provider.error.js';
import { providerHeaders } from './provider.headers.js';
import { ReplyDelivery } from '../wire/reply.delivery.js';
import { parseJson, readBody } from '../request/request.body.js';
import type { Endpoint, ScriptedBehaviour } from '../script/script.js';
import type { ScriptQueue } from '../script/script.queue.js';
import { SeededRandom } from '../reply/seeded.random.js';
import type { TrafficRecord } from '../traffic/traffic.record.js';
import type { TrafficStats } from '../traffic/traffic.stats.js';

const MODELS_PATH = '/v1/models';
const INSTANT = { firstTokenMs: 0, tokensPerSecond: Number.POSITIVE_INFINITY };
const REQUESTS_LEFT = 1_000_000;

export interface ProviderOptions {
  readonly speed: number;
  readonly seed: number;
  readonly apiKeys: readonly string[];
}

/** What every call passes. */
export interface ProviderControl {
  readonly scripts: ScriptQueue;
  readonly stats: TrafficStats;
  readonly admission: ChatAdmission;
}

/** Everything under /v1: keys, quotas, scripts and statistics around what the endpoints answer. */
export class ProviderEndpoint {
  private arrivals = 0;

  constructor(
    private readonly options: ProviderOptions,
    private readonly models: ModelCatalogue,
    private readonly chat: ChatEndpoint,
    private readonly control: ProviderControl,
  ) {}

  /** @throws ProviderError; the signal's reason when the client has left. */
  async answer(exchange: Exchange, url: URL): Promise<void> {
    const endpoint = endpointOf(url.pathname);
    this.arrivals += 1;
    const id = `req_${new SeededRandom(this.options.seed, 'request', this.arrivals).hex(24)}`;
    exchange.response.setHeader('x-request-id', id);
    const record = this.control.stats.begin(id, endpoint ?? 'other', exchange);
    const rawBody = await readBody(exchange.request);
    record.keepBody(rawBody);
    const key = keyOf(exchange.request);
    checkKey(key, this.options.apiKeys);
    if (endpoint === undefined) {
      throw new ProviderError(404, `Invalid URL (${exchange.request.method ?? ''} ${url.pathname})`);
    }
    if (exchange.request.method !== (endpoint === 'chat' ? 'POST' : 'GET')) {
      throw methodNotAllowed(exchange.request);
    }
    await this.serve(exchange, { endpoint, url, rawBody, record, key });
  }

  private async serve(exchange: Exchange, call: ProviderCall): Promise<void> {
    const { endpoint, url, rawBody, record } = call;
    const body = endpoint === 'chat' ? parsed(rawBody) : undefined;
    const { profile, behaviour, counted } = await this.receive(exchange, call, body);
    const clock = new LatencyClock(profile, this.options.speed, exchange.signal);
    const delivery = new ReplyDelivery(exchange, clock, behaviour);
    if (await delivery.replace(providerHeaders(record.id))) {
      return;
    }
    if (endpoint === 'chat') {
      await this.chat.answer({ body: body ?? parseJson(rawBody), behaviour, delivery, record, ...counted });
    } else {
      await delivery.body(200, {}, { text: JSON.stringify(this.lookUp(endpoint, url.pathname)), position: 0 });
    }
  }

  /** Counts the call, has it judged, and takes the script that is for it. @throws ProviderError 429. */
  private async receive(exchange: Exchange, call: ProviderCall, body: unknown): Promise<Reception> {
    const { endpoint, rawBody, record, key } = call;
    const name = isObject(body) && typeof body['model'] === 'string' ? body['model'] : undefined;
    const model = this.models.find(name);
    let counted = {};
    if (endpoint === 'chat') {
      this.control.stats.identify(record, model?.name ?? 'unknown');
      if (model !== undefined) {
        counted = { promptTokens: await this.control.admission.admit(exchange, { model, key, body, record }) };
      }
    }
    const behaviour = this.control.scripts.take({ endpoint, model: name, rawBody, apiKey: key }) ?? {};
    return { profile: model ?? INSTANT, behaviour, counted };
  }

  private lookUp(endpoint: Exclude<Endpoint, 'chat'>, path: string): object {
    if (endpoint === 'usage') {
      return { tier: 'enterprise', remaining: REQUESTS_LEFT };
    }
    const name = path.slice(MODELS_PATH.length + 1);
    return name === '' ? this.models.list() : this.models.describe(decoded(name));
  }
}

interface Reception {
  readonly profile: LatencyProfile;
  readonly behaviour: ScriptedBehaviour;
  readonly counted: { readonly promptTokens?: number };
}

interface ProviderCall {
  readonly endpoint: Endpoint;
  readonly url: URL;
  readonly rawBody: string;
  readonly record: TrafficRecord;
  readonly key: string | undefined;
}

function endpointOf(path: string): Endpoint | undefined {
  if (path === '/v1/chat/completions') {
    return 'chat';
  }
  if (path === '/v1/usage') {
    return 'usage';
  }
  return path === MODELS_PATH || path.startsWith(`${MODELS_PATH}/`) ? 'models' : undefined;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    // A stray % is no encoding: the name is taken as it is, and not found.
    return name;
  }
}

// A script may be for a body that is no JSON: the fault is told only if none is.
function parsed(rawBody: string): unknown {
  try {
    return parseJson(rawBody);
  } catch {
    return undefined;
  }
}
