import type { QuotaNeed } from '../fleet/index.js';
import type { Candidate } from './route.plan.js';

/** Of a body's text, about. */
const CHARACTERS_PER_TOKEN = 4;

/** What one call takes of a deployment's quota: guessed from the body's length, since counting would cost more than a wrong guess. */
export function quotaNeed(
  { model, deployment: { prices } }: Candidate,
  { bodyLength, maxOutputTokens }: { readonly bodyLength: number; readonly maxOutputTokens: number },
): QuotaNeed {
  const promptTokens = Math.ceil(bodyLength / CHARACTERS_PER_TOKEN);
  const outputTokens = Math.min(maxOutputTokens, model.maxOutputTokens);
  const costUsd = prices === undefined ? 0 : (promptTokens * prices.input + outputTokens * prices.output) / 1_000_000;
  return { requests: 1, promptTokens, outputTokens, costUsd };
}
