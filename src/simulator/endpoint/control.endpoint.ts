import type { Exchange } from '../wire/exchange.js';
import { methodNotAllowed, ProviderError } from '../provider.error.js';
import { parseJson, readBody } from '../request/request.body.js';
import type { QuotaControl } from './quota.control.js';
import { parseScripts } from '../script/script.parser.js';
import type { ScriptQueue } from '../script/script.queue.js';
import type { TrafficStats } from '../traffic/traffic.stats.js';

/** What tests and demonstrations steer the simulator by; outside of /v1. */
export class ControlEndpoint {
  constructor(
    private readonly scripts: ScriptQueue,
    private readonly stats: TrafficStats,
    private readonly quotas: QuotaControl,
  ) {}

  /** True: the path is one of these and has been answered. @throws ProviderError 400 or 405. */
  async answer(exchange: Exchange, url: URL): Promise<boolean> {
    switch (url.pathname) {
      case '/control/script':
        await this.script(exchange);
        return true;
      case '/control/limits':
        exchange.sendJson(200, { limits: await this.quotas.answer(exchange.request) });
        return true;
      case '/stats':
        await this.statistics(exchange, url.searchParams);
        return true;
      default:
        return false;
    }
  }

  private async script(exchange: Exchange): Promise<void> {
    switch (exchange.request.method) {
      case 'POST': {
        const scripts = parseScripts(parseJson(await readBody(exchange.request)));
        this.scripts.add(scripts);
        exchange.sendJson(201, { added: scripts.length, scripts: this.scripts.list() });
        return;
      }
      case 'DELETE':
        this.scripts.clear();
        break;
      case 'GET':
        break;
      default:
        throw methodNotAllowed(exchange.request);
    }
    exchange.sendJson(200, { scripts: this.scripts.list() });
  }

  private async statistics(exchange: Exchange, query: URLSearchParams): Promise<void> {
    const { method } = exchange.request;
    if (method === 'DELETE') {
      this.stats.reset();
      await this.quotas.resetBooks();
    } else if (method !== 'GET') {
      throw methodNotAllowed(exchange.request);
    }
    const filter = toFilter(query);
    const quotas = await this.quotas.books();
    exchange.sendJson(200, { ...this.stats.toJson(filter), quotas });
  }
}

function toFilter(query: URLSearchParams): object {
  const known = ['endpoint', 'model', 'status', 'contains', 'limit'];
  const filter: Record<string, string | number> = {};
  for (const [key, value] of query) {
    if (!known.includes(key)) {
      throw new ProviderError(400, `${key}: unknown filter; known are ${known.join(', ')}`);
    }
    filter[key] = key === 'limit' ? toLimit(value) : value;
  }
  return filter;
}

function toLimit(value: string): number {
  const limit = Number(value);
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new ProviderError(400, 'limit: must be a whole number from 1');
  }
  return limit;
}
