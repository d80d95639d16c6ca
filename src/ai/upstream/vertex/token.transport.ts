import type { gaxios } from 'google-auth-library';
import { Agent } from 'undici';
import { guardedConnector } from '../../../egress/index.js';

const ANSWER_LIMIT_BYTES = 1_048_576;

/** Tokens are asked for once an hour. */
const KEEP_ALIVE_MS = 1_000;

export interface TokenTransportOptions {
  /** For one request, ms. */
  readonly timeoutMs: number;
  /** Where tokens are asked for in place of Google's own address. */
  readonly tokenUrl?: string | undefined;
  /** True: the credentials may name any address, as those of workloads do that ask their cloud's metadata service. */
  readonly mayAskMetadata: boolean;
}

/**
 * Google's HTTP client for tokens, bounded: one try (who needs a token has a policy of its own), no redirects (a credential must not be
 * sent elsewhere), no private address that nobody meant, nothing unpacked, and a time limit.
 */
export function tokenTransport(
  { Gaxios }: typeof gaxios,
  { timeoutMs, tokenUrl, mayAskMetadata }: TokenTransportOptions,
): gaxios.Gaxios {
  const fetchImplementation = boundedFetch(
    new Agent({
      maxResponseSize: ANSWER_LIMIT_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      ...(!mayAskMetadata && { connect: guardedConnector({}) }),
    }),
  );
  class TokenTransport extends Gaxios {
    override async request<T>(options: gaxios.GaxiosOptions = {}): gaxios.GaxiosPromise<T> {
      return super.request<T>({
        ...options,
        ...(tokenUrl !== undefined && { url: tokenUrl }),
        fetchImplementation,
        maxContentLength: ANSWER_LIMIT_BYTES,
        retry: false,
        retryConfig: { retry: 0, noResponseRetries: 0 },
        timeout: timeoutMs,
      });
    }
  }
  return new TokenTransport();
}

/** `fetch` unpacks what it is sent, and its bound is on what comes over the line: a few kilobytes can become gigabytes. */
function boundedFetch(agent: Agent): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const { origin, pathname, search } = new URL(request.url);
    const answer = await agent.request({
      origin,
      path: pathname + search,
      method: request.method === 'GET' ? 'GET' : 'POST',
      headers: Object.fromEntries(request.headers),
      body: request.body === null ? null : Buffer.from(await request.arrayBuffer()),
      signal: request.signal,
    });
    const { statusCode: status, headers } = answer;
    const text = await answer.body.text();
    const type = headers['content-type'];
    return new Response(text === '' ? null : text, {
      status,
      headers: typeof type === 'string' ? { 'content-type': type } : {},
    });
  };
}
