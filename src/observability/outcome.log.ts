import type { Logger } from './logger.js';
import { isPolled, isServersFault, type Outcome } from './outcome.js';

/** Writes one line per request: at `error` for 5xx but 505, at `debug` for the routes that machines poll, else at `info`. */
export function logOutcome(logger: Logger, outcome: Outcome): void {
  const level = levelOf(outcome);
  if (!logger.isLevelEnabled(level)) return;
  logger[level](
    // Not spread: this is written for every request, and spreading an object of unknown shape costs four times as much.
    Object.assign({}, outcome.fields, {
      request_id: outcome.requestId,
      trace_id: outcome.trace?.traceId,
      span_id: outcome.trace?.spanId,
      method: outcome.method,
      route: outcome.route,
      status: outcome.status,
      duration_ms: Math.round(outcome.durationMs * 10) / 10,
    }),
    'request',
  );
}

function levelOf({ route, status }: Outcome): 'debug' | 'info' | 'error' {
  if (isPolled(route)) return 'debug';
  return isServersFault(status) ? 'error' : 'info';
}
