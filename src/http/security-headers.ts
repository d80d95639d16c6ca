import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import helmet, { type HelmetOptions } from 'helmet';

type Headers = Readonly<Record<string, string>>;

/** A year, as https://hstspreload.org asks; the subdomains are not ours to speak for. */
const HSTS: Headers = { 'strict-transport-security': 'max-age=31536000' };

/** What no answer of ours has a use for. HSTS belongs to answers over TLS alone (RFC 6797 section 7.2): see {@link HSTS}. */
const UNUSED = {
  crossOriginEmbedderPolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} satisfies HelmetOptions;

/**
 * Of every answer that is data: where a browser shows it as a page all the same, it loads nothing, runs nothing and stands in no frame.
 * A script of an allowed origin reads it as before: CORS is not touched by any of these.
 */
export const API_HEADERS = madeBy({
  ...UNUSED,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  xFrameOptions: { action: 'deny' },
});

/**
 * Of the page at /docs: scripts from its own files only, calls of this server only. Its styles stand in the page itself, and its
 * pictures are data.
 */
const DOCS_HEADERS = madeBy({
  ...UNUSED,
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
  },
  crossOriginOpenerPolicy: { policy: 'same-origin' },
  xFrameOptions: { action: 'deny' },
});

const DOCS_PAGE = /^\/docs(?:\/|$)/;

/** What an answer to this request begins with; whatever a handler sets itself stands over it. */
export function securityHeaders(request: FastifyRequest): Headers {
  const headers = isOfDocs(request) ? DOCS_HEADERS : API_HEADERS;
  // Whether the client came by TLS is the trusted proxy's to say.
  return request.protocol === 'https' ? { ...headers, ...HSTS } : headers;
}

/** Asked of every request: Fastify makes the route's options anew for whoever looks at them. */
function isOfDocs(request: FastifyRequest): boolean {
  return request.raw.url?.startsWith('/docs') === true && DOCS_PAGE.test(request.routeOptions.url ?? '');
}

/** What helmet would set, once and for all: it would work it out anew for each request. */
function madeBy(options: HelmetOptions): Headers {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  helmet(options)(request, response, (error) => {
    if (error !== undefined) throw new Error('helmet refuses its options', { cause: error });
  });
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
}
