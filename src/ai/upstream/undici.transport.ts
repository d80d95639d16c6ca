import { AxiosHeaders, type AxiosAdapter, type InternalAxiosRequestConfig } from 'axios';
import { Agent, type Dispatcher } from 'undici';

/** Idle connections are given back before the usual servers' 60 s close them under a request that is on its way. */
const KEEP_ALIVE_MS = 30_000;

/**
 * The transport under `HttpService`: an axios adapter on undici's connection pool. It does only what a call to a provider needs: no
 * redirects (an upstream must not send our key elsewhere), no decompression, no body transforms, and the body as a stream. Its own
 * time limits are off but for connecting: the attempt's signal decides.
 */
export class UndiciTransport {
  readonly #agents = new Map<number, Agent>();

  readonly adapter: AxiosAdapter = async (config) => {
    const { origin, pathname, search } = new URL(config.url ?? '', config.baseURL);
    const answer = await this.agentFor(config.timeout ?? 0).request({
      origin,
      path: pathname + search,
      method: methodOf(config.method),
      headers: plainHeaders(config),
      body: typeof config.data === 'string' ? config.data : null,
      ...(config.signal instanceof AbortSignal && { signal: config.signal }),
    });
    return {
      data: answer.body,
      status: answer.statusCode,
      statusText: '',
      headers: answer.headers,
      config,
    };
  };

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
    this.#agents.clear();
  }

  /** One pool per connect limit: undici fixes it per agent. The catalogue has a handful of them. */
  private agentFor(connectMs: number): Agent {
    let agent = this.#agents.get(connectMs);
    if (agent === undefined) {
      agent = new Agent({
        connect: { timeout: connectMs },
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.#agents.set(connectMs, agent);
    }
    return agent;
  }
}

function methodOf(method: string | undefined): Dispatcher.HttpMethod {
  return method?.toUpperCase() === 'POST' ? 'POST' : 'GET';
}

function plainHeaders({ headers }: InternalAxiosRequestConfig): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of AxiosHeaders.from(headers)) plain[name] = String(value);
  return plain;
}
