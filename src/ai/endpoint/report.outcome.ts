import { ClientGoneError, toApiError } from '../../http/index.js';
import type { OutcomeFields } from '../../observability/index.js';
import { UpstreamFailure } from '../upstream/upstream-failure.js';
import type { CallReport } from '../call/completion-call.js';

/** What a completion adds to its request's outcome line. */
export function outcomeFields(report: CallReport): OutcomeFields {
  return {
    model: report.model,
    provider: report.provider,
    routed: report.route,
    attempts: report.attempts,
    cache: report.cache,
    upstream_ms: report.upstreamMs === undefined ? undefined : Math.round(report.upstreamMs),
    prompt_tokens: report.promptTokens,
    completion_tokens: report.completionTokens,
    cost_usd: report.costUsd,
    failure: failureOf(report.failure),
  };
}

/** The whole chain of causes in a line, for whoever has to find out why: `upstream_error: acme could not be reached: connect ECONNREFUSED`. */
function failureOf(error: unknown): string | undefined {
  if (error === undefined || error instanceof ClientGoneError) return undefined;
  const { code, message, cause } = toApiError(error);
  // The provider's words about a request may quote it.
  if (error instanceof UpstreamFailure && error.blame === 'request') return `${code}: refused by the provider`;
  const facts = [code, message];
  for (let next: unknown = cause; next instanceof Error && facts.length < 5; next = next.cause)
    facts.push(next.message);
  return facts.join(': ');
}
