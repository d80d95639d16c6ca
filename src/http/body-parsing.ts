import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';
import { readBody } from './body.reader.js';
import { parseJsonBody, type JsonBody } from './json-body.js';
import { bodyTooLarge } from './to-api-error.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON body's exact text; undefined when the request has none. */
    bodyText: string | undefined;
  }
}

/**
 * Takes `application/json` and nothing else: the value becomes `request.body`, the exact text `request.bodyText`.
 * `application/*+json` is refused, since those types have their own meaning (merge patch, JSON:API). Fastify's own parsers go.
 * What the headers alone condemn is refused before the body is read.
 */
export function registerJsonBodies(instance: FastifyInstance, bodyLimitBytes: number): void {
  instance.decorateRequest('bodyText', undefined);
  instance.removeAllContentTypeParsers();
  instance.addHook('preParsing', (request, _reply, _payload, done) => {
    done(bodyFault(request, bodyLimitBytes));
  });
  instance.addContentTypeParser('application/json', (request, payload, done) => {
    readBody(payload, { limitBytes: bodyLimitBytes, openRequest: request.openRequest }, (outcome) => {
      if (Buffer.isBuffer(outcome)) takeBody(request, outcome, done);
      else done(outcome);
    });
  });
  // Whatever else is announced comes here only with nothing in it: no body.
  instance.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null, undefined);
  });
}

function takeBody(request: FastifyRequest, body: Buffer, done: (error: Error | null, value?: unknown) => void): void {
  // Many clients put the header on every call; a DELETE has no body to miss.
  if (body.length === 0 && request.method === 'DELETE') {
    done(null, undefined);
    return;
  }
  let parsed: JsonBody;
  try {
    parsed = parseJsonBody(body);
  } catch (error) {
    done(asError(error));
    return;
  }
  request.bodyText = parsed.text;
  done(null, parsed.value);
}

function bodyFault(request: FastifyRequest, bodyLimitBytes: number): ApiError | undefined {
  const { headers, method } = request.raw;
  if (method === 'GET' || method === 'HEAD' || !hasBody(request)) return undefined;
  if (Number(headers['content-length']) > bodyLimitBytes) return bodyTooLarge({ bodyLimitBytes });
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    return new ApiError('unsupported_media_type', 'compressed request bodies are not taken: send no content-encoding');
  }
  return isJson(headers['content-type'])
    ? undefined
    : new ApiError('unsupported_media_type', mediaTypeFault(headers['content-type']));
}

function hasBody(request: FastifyRequest): boolean {
  const { headers } = request.raw;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^\s*application\/json\s*(?:;|$)/i.test(contentType);
}

function mediaTypeFault(contentType: string | undefined): string {
  const given = contentType === undefined ? 'it is missing' : `not ${JSON.stringify(contentType.slice(0, 100))}`;
  return `the content-type must be application/json: ${given}`;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error('the body could not be read', { cause: error });
}
