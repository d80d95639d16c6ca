import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';
import { BodyBudget } from './body.budget.js';
import { readBody } from './body.reader.js';
import type { HttpOptions } from './http-options.js';
import { parseJsonBody } from './json-body.js';
import { isJson, mediaTypeFault } from './json-media-type.js';
import { bodyTooLarge } from './to-api-error.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON body's exact text; undefined when the request has none. */
    bodyText: string | undefined;
  }
}

/** Those whose bodies Fastify would read. */
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/**
 * Takes `application/json` in UTF-8 and nothing else: the value becomes `request.body`, the exact text `request.bodyText`.
 * `application/*+json` is refused, since those types have their own meaning (merge patch, JSON:API).
 * What the headers alone condemn is refused before the body is read, and so is what there is no room for beside the bodies of others.
 *
 * Fastify's own parsers are left out, with their way to be called: on Node 20 the AsyncResource that it binds for each body keeps the
 * whole request alive until the next full garbage collection, which costs more than all the parsing.
 */
export function registerJsonBodies(
  instance: FastifyInstance,
  { bodyLimitBytes, limits }: Pick<HttpOptions, 'bodyLimitBytes' | 'limits'>,
): void {
  const budget = new BodyBudget(Math.max(bodyLimitBytes, limits.bodiesBytes));
  instance.decorateRequest('bodyText', undefined);
  for (const method of METHODS) instance.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  instance.addHook('preParsing', (request, _reply, _payload, done) => {
    done(bodyFault(request, bodyLimitBytes));
  });
  instance.addHook('preValidation', (request, _reply, done) => {
    const { raw, openRequest } = request;
    if (raw.method === 'GET' || raw.method === 'HEAD' || !isJson(raw.headers['content-type'])) {
      // Whatever else is announced comes here only with nothing in it: no body.
      done();
      return;
    }
    const share = budget.shareOf(openRequest);
    readBody(raw, { limitBytes: bodyLimitBytes, share, openRequest }, (outcome) => {
      done(Buffer.isBuffer(outcome) ? takeBody(request, outcome) : outcome);
    });
  });
}

/** Why it is none. */
function takeBody(request: FastifyRequest, body: Buffer): Error | undefined {
  // Many clients put the header on every call; a DELETE has no body to miss.
  if (body.length === 0 && request.method === 'DELETE') return undefined;
  try {
    const { text, value } = parseJsonBody(body);
    request.bodyText = text;
    request.body = value;
    return undefined;
  } catch (error) {
    return asError(error);
  }
}

function bodyFault(request: FastifyRequest, bodyLimitBytes: number): ApiError | undefined {
  const { headers, method } = request.raw;
  if (method === 'GET' || method === 'HEAD' || !hasBody(request)) return undefined;
  if (Number(headers['content-length']) > bodyLimitBytes) return bodyTooLarge({ bodyLimitBytes });
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    return new ApiError('unsupported_media_type', 'compressed request bodies are not taken: send no content-encoding');
  }
  return mediaTypeFault(headers['content-type']);
}

function hasBody(request: FastifyRequest): boolean {
  const { headers } = request.raw;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the body could not be read', { cause: error });
}
