import { isObject, type JsonObject, member } from '../../wire/json-value.js';

/** Gemini's `logprobsResult` in OpenAI's shape; undefined where there is none. */
export function openAiLogprobs(result: unknown): JsonObject | undefined {
  const chosen = listOf(member(result, 'chosenCandidates'));
  if (chosen.length === 0) return undefined;
  const top = listOf(member(result, 'topCandidates'));
  return {
    content: chosen.map((candidate, at) => ({
      ...tokenOf(candidate),
      top_logprobs: listOf(member(top[at], 'candidates')).map(tokenOf),
    })),
    refusal: null,
  };
}

function tokenOf(candidate: unknown): JsonObject {
  const token = member(candidate, 'token');
  const text = typeof token === 'string' ? token : '';
  return {
    token: text,
    // A certainty is 0, and a count of nothing is left out.
    logprob: isObject(candidate) ? (candidate['logProbability'] ?? 0) : 0,
    bytes: [...Buffer.from(text)],
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
