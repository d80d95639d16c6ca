import { limitHeaders } from './limit.headers.js';
import type { CompletionCall } from '../call/completion-call.js';

/** The `x-coordinator-*` headers of a completion: what is known when the head is sent. A stream's cost is not: it is in its usage. */
export function reportHeaders({ report, startedAt, request }: CompletionCall): Record<string, string> {
  const headers: Record<string, string> = {
    'x-coordinator-attempts': String(report.attempts),
    'x-coordinator-cache': report.cache ?? 'bypass',
    'x-coordinator-queue-ms': String(Math.round(report.queueMs ?? 0)),
    'x-coordinator-total-ms': String(Math.round(performance.now() - startedAt)),
  };
  if (report.model !== undefined) headers['x-coordinator-model'] = report.model;
  if (report.provider !== undefined) headers['x-coordinator-provider'] = report.provider;
  if (report.route !== undefined) headers['x-coordinator-route'] = report.route;
  if (report.upstreamMs !== undefined) headers['x-coordinator-upstream-ms'] = String(Math.round(report.upstreamMs));
  if (request.stream !== true && report.costUsd !== undefined)
    headers['x-coordinator-cost-usd'] = String(report.costUsd);
  Object.assign(headers, limitHeaders(report.usage));
  if (report.isReplay) headers['idempotent-replayed'] = 'true';
  return headers;
}
