import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { ApiError } from './api-error.js';
import { errorBody, errorHeaders, errorStatus } from './error-body.js';
import { API_HEADERS } from './security-headers.js';

/** Set by a handler for the answer it meant to give; they would lie about an error. */
const SUCCESS_HEADERS = ['content-length', 'content-encoding', 'content-disposition', 'etag', 'last-modified'];

/** Sends an error as the answer. The headers of every answer are set here too, since some errors precede every hook. */
export function sendError(reply: FastifyReply, error: ApiError): void {
  for (const name of SUCCESS_HEADERS) reply.removeHeader(name);
  void reply
    .code(errorStatus(error))
    .headers({ ...errorHeaders(error), ...fixedHeaders(reply.request.id) })
    .send(JSON.stringify(errorBody(error)));
}

/** The same answer as bytes, for a connection whose request could not be read; it closes the connection. */
export function rawError(error: ApiError, requestId: string): string {
  const status = errorStatus(error);
  const body = JSON.stringify(errorBody(error));
  const headers = {
    ...errorHeaders(error),
    ...fixedHeaders(requestId),
    date: new Date().toUTCString(),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${String(status)} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n');
}

function fixedHeaders(requestId: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...API_HEADERS,
  };
}
