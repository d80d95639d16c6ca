import type { gaxios } from 'google-auth-library';

const ANSWER_LIMIT_BYTES = 1_048_576;

/**
 * Google's HTTP client for tokens, bounded: one try (who needs a token has a policy of its own), no redirects (a credential must not be
 * sent elsewhere), and a time limit.
 *
 * @param timeoutMs - for one request
 * @param tokenUrl - where tokens are asked for in place of Google's own address
 */
export function tokenTransport(
  { Gaxios }: typeof gaxios,
  { timeoutMs, tokenUrl }: { readonly timeoutMs: number; readonly tokenUrl?: string | undefined },
): gaxios.Gaxios {
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
        timeout: timeoutMs,
      });
    }
  }
  return new TokenTransport();
}
