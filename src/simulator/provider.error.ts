import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

export interface ProviderErrorDetails {
  readonly type?: string;
  readonly param?: string;
  readonly code?: string;
}

export interface ProviderErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** A refusal in OpenAI's shape and wording. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';

  constructor(
    readonly status: number,
    message: string,
    private readonly details: ProviderErrorDetails = {},
    /** Sent with it. */
    readonly headers: OutgoingHttpHeaders = {},
  ) {
    super(message);
  }

  get body(): ProviderErrorBody {
    const { type = 'invalid_request_error', param = null, code = null } = this.details;
    return { error: { message: this.message, type, param, code } };
  }
}

/** 400 that blames one request member. */
export function invalidRequest(message: string, param?: string, code?: string): ProviderError {
  return new ProviderError(400, message, {
    ...(param !== undefined && { param }),
    ...(code !== undefined && { code }),
  });
}

const SERVER_ERROR = 'The server had an error while processing your request. Sorry about that!';

const TYPICAL: Readonly<Record<number, readonly [message: string, type: string, code?: string]>> = {
  401: ['Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key'],
  403: ['You are not allowed to use this resource.', 'invalid_request_error', 'forbidden'],
  408: ['Request timed out.', 'timeout'],
  429: ['Rate limit reached for requests. Please try again later.', 'requests', 'rate_limit_exceeded'],
  503: ['The engine is currently overloaded, please try again later.', 'service_unavailable_error'],
  529: ['Overloaded', 'overloaded_error'],
};

/** What a provider typically says with a status, for scripts that give only the status. */
export function typicalError(status: number): ProviderError {
  const [message, type, code] = TYPICAL[status] ?? [
    SERVER_ERROR,
    status < 500 ? 'invalid_request_error' : 'server_error',
  ];
  return new ProviderError(status, message, { type, ...(code !== undefined && { code }) });
}

export function methodNotAllowed({ method, url }: IncomingMessage): ProviderError {
  const hint = '(HINT: Perhaps you meant to use a different HTTP method?)';
  return new ProviderError(405, `Not allowed to ${method ?? ''} on ${url ?? ''}. ${hint}`);
}
