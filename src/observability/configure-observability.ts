import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorCodeOf } from './error-code.js';
import { HttpMetrics } from './http.metrics.js';
import { LOGGER, type Logger } from './logger.js';
import { addOutcome, outcomeOf } from './outcome.js';
import { logOutcome } from './outcome.log.js';

export interface ObservabilityOptions {
  /**
   * Calls back once when a request is over: its answer is complete, or nobody is left to read it. A port, since only who keeps the
   * connections knows: a response that waits behind another on its connection never sees that connection close.
   */
  readonly onOver: (request: FastifyRequest, reply: FastifyReply, listener: () => void) => void;
}

/**
 * Counts and logs every request once, when its response is complete or its client has left, and counts the connections that were
 * refused. Call it before `app.init()` and
 * before any hook that may refuse a request.
 */
export function configureObservability(app: NestFastifyApplication, { onOver }: ObservabilityOptions): void {
  const logger = app.get<Logger>(LOGGER);
  const metrics = app.get(HttpMetrics);
  const server = app.getHttpAdapter().getInstance();
  server.server.on('drop', () => {
    metrics.connectionRefused();
  });

  server.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    metrics.requestStarted();
    onOver(request, reply, () => {
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
