import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { errorCodeOf } from './error-code.js';
import { HttpMetrics } from './http.metrics.js';
import { LOGGER, type Logger } from './logger.js';
import { addOutcome, outcomeOf } from './outcome.js';
import { logOutcome } from './outcome.log.js';

/**
 * Counts and logs every request once, when its response is complete or its client has left. Call it before `app.init()` and
 * before any hook that may refuse a request.
 */
export function configureObservability(app: NestFastifyApplication): void {
  const logger = app.get<Logger>(LOGGER);
  const metrics = app.get(HttpMetrics);
  const server = app.getHttpAdapter().getInstance();

  server.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    metrics.requestStarted();
    // 'close' comes once and in both cases: after the last byte of a response, and when the connection breaks before it.
    reply.raw.once('close', () => {
      const outcome = outcomeOf(request, reply, performance.now() - startedAt);
      metrics.requestEnded(outcome);
      logOutcome(logger, outcome);
    });
    done();
  });

  server.addHook('onSend', (request, reply, payload, done) => {
    const code = reply.statusCode < 400 ? undefined : errorCodeOf(payload);
    if (code !== undefined) addOutcome(request, { code });
    done();
  });
}
