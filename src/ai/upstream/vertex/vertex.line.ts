import type { AttemptRequest } from '../provider.adapter.js';
import { isRefusal, type ProviderLine, type ProviderMessage } from '../provider.line.js';
import type { UpstreamAnswer } from '../undici.transport.js';
import { UpstreamFailure } from '../upstream-failure.js';
import { type AccessToken, AccessTokens } from './access-tokens.js';
import { tokenSource } from './google.credentials.js';
import { TokenError } from './token.error.js';

const UNAUTHENTICATED = 401;

/** An answer, and the attempt as it was sent: with the token that has to be kept out of what the answer may quote. */
export interface AnsweredAttempt {
  readonly answer: UpstreamAnswer;
  readonly attempt: AttemptRequest;
}

/** The way into Vertex AI: each set of credentials with an access token that is kept fresh. */
export class VertexLine {
  /** By the credentials. There are as many as the configuration has keys. */
  readonly #tokens = new Map<string, AccessTokens>();

  constructor(
    private readonly line: ProviderLine,
    private readonly now: () => number,
  ) {}

  /**
   * As `ProviderLine.post`, with an access token. One that is not taken any more is replaced, and the request sent once again: a token
   * may be withdrawn before its end, and the key that it was given for is as good as before.
   *
   * @throws UpstreamFailure also where there is none to be had
   */
  async post(attempt: AttemptRequest, message: ProviderMessage): Promise<AnsweredAttempt> {
    const tokens = this.tokensFor(attempt);
    const access = await accessFor(attempt, tokens);
    const first = await this.line.send(attempt, withAccess(message, access));
    const sent = withToken(attempt, access.token);
    if (!isRefusal(first)) return { answer: first, attempt: sent };
    const failure = await this.line.failureOf(first, sent);
    if (first.status !== UNAUTHENTICATED) throw failure;
    tokens.discard(access.token);
    const another = await accessFor(attempt, tokens);
    if (another.token === access.token) throw failure;
    const second = await this.line.send(attempt, withAccess(message, another));
    if (second.status === UNAUTHENTICATED) tokens.discard(another.token);
    const sentAgain = withToken(attempt, another.token);
    if (isRefusal(second)) throw await this.line.failureOf(second, sentAgain);
    return { answer: second, attempt: sentAgain };
  }

  private tokensFor({ deployment: { upstream } }: AttemptRequest): AccessTokens {
    let tokens = this.#tokens.get(upstream.apiKey);
    if (tokens === undefined) {
      const projectId = /\/projects\/([^/]+)/.exec(upstream.baseUrl)?.[1] ?? 'unnamed';
      tokens = new AccessTokens(tokenSource(upstream.apiKey, projectId), this.now);
      this.#tokens.set(upstream.apiKey, tokens);
    }
    return tokens;
  }
}

async function accessFor({ deployment, signal }: AttemptRequest, tokens: AccessTokens): Promise<AccessToken> {
  try {
    return await tokens.get(signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof TokenError)) throw error;
    const { name } = deployment.upstream;
    if (error.isRefused) {
      const message = `no access token is to be had for ${name} with this service's credentials`;
      throw new UpstreamFailure('key', 'upstream_auth', message, { cause: error });
    }
    const message = `no access token could be obtained for ${name}`;
    throw new UpstreamFailure('upstream', 'upstream_error', message, { cause: error });
  }
}

/** The token is what is sent, and so what has to be kept out of the provider's words. */
function withToken(attempt: AttemptRequest, token: string): AttemptRequest {
  const { deployment } = attempt;
  return { ...attempt, deployment: { ...deployment, upstream: { ...deployment.upstream, apiKey: token } } };
}

function withAccess(message: ProviderMessage, { token, headers }: AccessToken): ProviderMessage {
  return { ...message, headers: { ...message.headers, ...headers, authorization: `Bearer ${token}` } };
}
