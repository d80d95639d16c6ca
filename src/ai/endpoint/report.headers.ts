import { REPORT_HEADERS } from '../../http/index.js';
import { limitHeaders } from './limit.headers.js';
import type { CompletionCall } from '../call/completion-call.js';

/** The `x-coordinator-*` headers of a completion: what is known when the head is sent. A stream's cost is not: it is in its usage. */
export function reportHeaders({ report, startedAt, request }: CompletionCall): Record<string, string> {
  const headers: Record<string, string> = {
    [REPORT_HEADERS.attempts]: String(report.attempts),
    [REPORT_HEADERS.cache]: report.cache ?? 'bypass',
    [REPORT_HEADERS.queueMs]: String(Math.round(report.queueMs ?? 0)),
    [REPORT_HEADERS.totalMs]: String(Math.round(performance.now() - startedAt)),
  };
  if (report.model !== undefined) headers[REPORT_HEADERS.model] = report.model;
  if (report.provider !== undefined) headers[REPORT_HEADERS.provider] = report.provider;
  if (report.route !== undefined) headers[REPORT_HEADERS.route] = report.route;
  if (report.upstreamMs !== undefined) headers[REPORT_HEADERS.upstreamMs] = String(Math.round(report.upstreamMs));
  if (request.stream !== true && report.costUsd !== undefined) headers[REPORT_HEADERS.costUsd] = String(report.costUsd);
  Object.assign(headers, limitHeaders(report.usage));
  if (report.isReplay) headers['idempotent-replayed'] = 'true';
  return headers;
}
