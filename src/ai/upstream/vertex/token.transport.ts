import type { gaxios } from 'google-auth-library';

/** The longest that one request for a token may take, ms. */
const REQUEST_PATIENCE_MS = 5_000;
/** The longest that all requests for one may take, ms: some credentials are exchanged more than once. */
export const TOKEN_PATIENCE_MS = 15_000;
const ANSWER_LIMIT_BYTES = 1_048_576;

/**
 * Google's HTTP client for tokens, bounded: one try (who needs a token has a policy of its own), no redirects (a credential must not be
 * sent elsewhere), and a time limit.
 *
 * @param tokenUrl - where tokens are asked for in place of Google's own address
 */
export function tokenTransport({ Gaxios }: typeof gaxios, tokenUrl?: string): gaxios.Gaxios {
  class TokenTransport extends Gaxios {
    override async request<T>(options: gaxios.GaxiosOptions = {}): gaxios.GaxiosPromise<T> {
      return super.request<T>({
        ...options,
        ...(tokenUrl !== undefined && { url: tokenUrl }),
        fetchImplementation: fetch,
        maxContentLength: ANSWER_LIMIT_BYTES,
        redirect: 'error',
        retry: false,
        retryConfig: { retry: 0, noResponseRetries: 0 },
        timeout: REQUEST_PATIENCE_MS,
      });
    }
  }
  return new TokenTransport();
}
