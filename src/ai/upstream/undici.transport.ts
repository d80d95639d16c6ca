import { AxiosHeaders, type AxiosAdapter } from 'axios';
import { Agent, type Dispatcher } from 'undici';
import type { Readable } from 'node:stream';
import { guardedConnector } from '../../egress/index.js';
import type { UpstreamHeaders } from './retry-after.js';
import { SendingHandler } from './sending.js';

/** Idle connections are given back before the usual servers' 60 s close them under a request that is on its way. */
const KEEP_ALIVE_MS = 30_000;

export interface UpstreamCall {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** TCP and TLS, ms. */
  readonly connectMs: number;
  /** Ends the call with its reason, at any moment. */
  readonly signal?: AbortSignal;
  /** Called right before it goes onto the wire, once the connection stands; what it throws ends the call unsent. */
  readonly sending?: (() => void) | undefined;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly body: Readable;
}

/**
 * The way to the providers: undici's connection pools. No redirects (an upstream must not send our key elsewhere), no private
 * address that nobody meant, no decompression, and no time limits of its own but for connecting: the call's signal decides.
 */
export class UndiciTransport {
  readonly #agents = new Map<number, Agent>();

  /** @param privateHosts - hosts that may have private addresses although nothing in their names says so */
  constructor(private readonly privateHosts: ReadonlySet<string> = new Set()) {}

  /** The same pools under `HttpService`, for calls that are not completions; see docs/adr/0002. */
  readonly adapter: AxiosAdapter = async (config) => {
    const answer = await this.send({
      method: config.method?.toUpperCase() === 'POST' ? 'POST' : 'GET',
      url: new URL(config.url ?? '', config.baseURL).href,
      headers: Object.fromEntries([...AxiosHeaders.from(config.headers)].map(([name, value]) => [name, String(value)])),
      connectMs: config.timeout ?? 0,
      ...(typeof config.data === 'string' && { body: config.data }),
      ...(config.signal instanceof AbortSignal && { signal: config.signal }),
    });
    return { data: answer.body, status: answer.status, statusText: '', headers: { ...answer.headers }, config };
  };

  async send({ method, url, headers, body, connectMs, signal, sending }: UpstreamCall): Promise<UpstreamAnswer> {
    const { origin, pathname, search } = new URL(url);
    const path = pathname + search;
    const options: Dispatcher.RequestOptions = { origin, path, method, headers, body: body ?? null, signal };
    const agent = this.agentFor(connectMs);
    const dispatcher = sending === undefined ? agent : agent.compose(askedBefore(sending));
    const answer = await dispatcher.request(options);
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
    this.#agents.clear();
  }

  /** One pool per connect limit: undici fixes it per agent. The catalogue has a handful of them. */
  private agentFor(connectMs: number): Agent {
    let agent = this.#agents.get(connectMs);
    if (agent === undefined) {
      agent = new Agent({
        connect: guardedConnector({ connectMs, privateHosts: this.privateHosts }),
        keepAliveTimeout: KEEP_ALIVE_MS,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.#agents.set(connectMs, agent);
    }
    return agent;
  }
}

function askedBefore(sending: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => dispatch(options, new SendingHandler(handler, sending));
}
