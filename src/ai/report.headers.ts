import type { CompletionCall } from './call/completion-call.js';

/** The `x-coordinator-*` headers of a completion: what is known when the head is sent. A stream's cost is not: it is in its usage. */
export function reportHeaders({ report, startedAt, request }: CompletionCall): Record<string, string> {
  const totalMs = performance.now() - startedAt;
  return {
    ...(report.model !== undefined && { 'x-coordinator-model': report.model }),
    ...(report.provider !== undefined && { 'x-coordinator-provider': report.provider }),
    ...(report.route !== undefined && { 'x-coordinator-route': report.route }),
    'x-coordinator-attempts': String(report.attempts),
    'x-coordinator-cache': 'bypass',
    'x-coordinator-queue-ms': '0',
    ...(report.upstreamMs !== undefined && { 'x-coordinator-upstream-ms': report.upstreamMs.toFixed(0) }),
    'x-coordinator-total-ms': totalMs.toFixed(0),
    ...(request.stream !== true && report.costUsd !== undefined && { 'x-coordinator-cost-usd': String(report.costUsd) }),
  };
}
