import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from './api-error.js';

/** Refuses requests whose end may be seen elsewhere, with all that follows them on their connections: it may belong to them. */
export class Framing {
  readonly #refused = new WeakSet<Socket>();

  /** @throws ApiError invalid_request, http_version_unknown; the connection is closed after it */
  check({ raw }: FastifyRequest, reply: FastifyReply): void {
    const fault = this.#refused.has(raw.socket) ? afterAnother() : framingFault(raw);
    if (fault === undefined) return;
    this.#refused.add(raw.socket);
    reply.header('connection', 'close');
    throw fault;
  }
}

/**
 * Another version in the request line. Node's parser takes 0.9 and 2.0 for a version like any other, and 1.2 for none, where RFC 9110
 * section 2.5 would have it read as 1.1.
 */
export function unknownVersion(): ApiError {
  return new ApiError('http_version_unknown', 'this server speaks HTTP/1.1 and HTTP/1.0');
}

/** Nobody reads it: the connection ends with the answer before. */
function afterAnother(): ApiError {
  return new ApiError('invalid_request', 'the request before this one was refused with its connection');
}

/**
 * Why a request may be read as another one by a proxy before us, where Node's parser reads on: a second Host (RFC 9112 section 3.2),
 * another Authorization or Content-Type beside the first, a transfer coding other than chunked, or any in HTTP/1.0 (section 6.1). What Node refuses itself, such as two lengths, never comes here.
 */
function framingFault({ rawHeaders, headers, httpVersion }: IncomingMessage): ApiError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return unknownVersion();
  const repeated = repeatedIn(rawHeaders, headers);
  if (repeated !== undefined) return new ApiError('invalid_request', `the ${repeated} header is given more than once`);
  const coding = headers['transfer-encoding'];
  if (coding === undefined || (coding.trim().toLowerCase() === 'chunked' && httpVersion !== '1.0')) return undefined;
  return new ApiError('invalid_request', 'the only transfer-encoding that is taken is chunked, by HTTP/1.1');
}

/** Node keeps the first of several, and does not tell. */
function repeatedIn(rawHeaders: readonly string[], headers: IncomingHttpHeaders): string | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    const single = name === undefined ? undefined : SINGLE[name.length];
    if (single === undefined || name?.toLowerCase() !== single.field) continue;
    if (single.field === 'host') hosts += 1;
    // Said twice and the same, there is nothing to choose; but of hosts a second one is forbidden in any case.
    if (hosts > 1 || rawHeaders[at + 1] !== headers[single.field]) return single.shown;
  }
  return undefined;
}

/** By the length of their names: this is asked of every field. */
const SINGLE: Readonly<Partial<Record<number, { readonly field: keyof IncomingHttpHeaders; readonly shown: string }>>> =
  {
    4: { field: 'host', shown: 'Host' },
    12: { field: 'content-type', shown: 'Content-Type' },
    13: { field: 'authorization', shown: 'Authorization' },
  };
