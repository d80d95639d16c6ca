import type { FastifyCorsOptions } from '@fastify/cors';
import { ModulesContainer } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ErrorFilter } from './error.filter.js';
import { endEventsWithErrors } from './event-error.interceptor.js';
import { ALLOWED_REQUEST_HEADERS, EXPOSED_RESPONSE_HEADERS } from './header-lists.js';
import type { HttpOptions } from './http-options.js';
import { installRequestHooks } from './request-hooks.js';
import { createValidationPipe } from './validation.pipe.js';

/** A day; browsers cap it (Chromium at two hours). */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/**
 * The rest of the HTTP contract: error shape, validation, CORS, and what refuses a request before it is read (Host rule, drain,
 * 404, 405). To be called once, before `app.init()` and `serveDocs()`, and after hooks that have to see refused requests too.
 */
export function configureHttp(app: NestFastifyApplication, options: HttpOptions): void {
  installRequestHooks(app.getHttpAdapter().getInstance(), options);
  const filter = new ErrorFilter(options);
  app.useGlobalFilters(filter);
  endEventsWithErrors(app.get(ModulesContainer), filter);
  app.useGlobalPipes(createValidationPipe());
  if (options.corsOrigins.length > 0) app.enableCors(corsOptions(options.corsOrigins));
}

/**
 * Callers authenticate by a header, never by a cookie, so credentials are never allowed. An origin that is not listed gets an
 * answer without any CORS header.
 */
function corsOptions(origins: readonly string[]): FastifyCorsOptions {
  const listed = new Set(origins);
  return {
    origin: listed.has('*')
      ? '*'
      : (origin, decide) => {
          decide(null, origin !== undefined && listed.has(origin));
        },
    credentials: false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [...ALLOWED_REQUEST_HEADERS],
    exposedHeaders: [...EXPOSED_RESPONSE_HEADERS],
    maxAge: PREFLIGHT_MAX_AGE_SECONDS,
    // The strict way answers a bare OPTIONS with a text of its own.
    strictPreflight: false,
  };
}
