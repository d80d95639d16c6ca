import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorCodeOf } from './error-code.js';
import { HttpMetrics } from './http.metrics.js';
import { LOGGER, type Logger } from './logger.js';
import { addOutcome, outcomeOf } from './outcome.js';
import { logOutcome } from './outcome.log.js';
import { endRequest, forgetTraces, traceRequests } from './tracing/trace.requests.js';
import type { Tracer } from './tracing/trace.span.js';

export interface ObservabilityOptions {
  /**
   * Calls back once when a request is over: its answer is complete, or nobody is left to read it. A port, since only who keeps the
   * connections knows: a response that waits behind another on its connection never sees that connection close.
   */
  readonly onOver: (request: FastifyRequest, reply: FastifyReply, listener: () => void) => void;
  /** Undefined: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** False: a caller's trace is nobody's business, neither ours nor a provider's. Default: it is gone on with. */
  readonly propagates?: boolean;
}

/**
 * Counts, logs and traces every request once, when its response is complete or its client has left, and counts the connections that
 * were refused. Call it before `app.init()` and before any hook that may refuse a request.
 */
export function configureObservability(app: NestFastifyApplication, options: ObservabilityOptions): void {
  const { onOver, tracer, propagates = true } = options;
  const logger = app.get<Logger>(LOGGER);
  const metrics = app.get(HttpMetrics);
  const server = app.getHttpAdapter().getInstance();
  server.server.on('drop', () => {
    metrics.connectionRefused();
  });

  if (!propagates) forgetTraces(server);
  if (tracer !== undefined) traceRequests(server, tracer);
  server.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    metrics.requestStarted();
    onOver(request, reply, () => {
      const outcome = outcomeOf(request, reply, performance.now() - startedAt);
      metrics.requestEnded(outcome);
      logOutcome(logger, outcome);
      endRequest(request, reply, outcome);
    });
    done();
  });

  server.addHook('onSend', (request, reply, payload, done) => {
    const code = reply.statusCode < 400 ? undefined : errorCodeOf(payload);
    if (code !== undefined) addOutcome(request, { code });
    done();
  });
}
