import { entryOf, isObject, type JsonObject, member } from '../../wire/json-value.js';

/**
 * Gemini's usage in OpenAI's shape (https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#UsageMetadata):
 * the prompt's count already holds what came from a cache, but not the results of tools that ran there; the candidates' count does not
 * hold what was thought, and both are paid as output. A count of nothing is left out.
 *
 * @returns undefined where the prompt was not counted
 */
export function openAiUsage(native: unknown): JsonObject | undefined {
  const prompt = count(native, 'promptTokenCount');
  if (!isObject(native) || prompt === undefined) return undefined;
  const promptTokens = prompt + (count(native, 'toolUsePromptTokenCount') ?? 0);
  const thought = count(native, 'thoughtsTokenCount') ?? 0;
  const completionTokens = (count(native, 'candidatesTokenCount') ?? 0) + thought;
  const heard = audioIn(native['promptTokensDetails']);
  const spoken = audioIn(native['candidatesTokensDetails']);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: count(native, 'cachedContentTokenCount') ?? 0,
      ...(heard !== undefined && { audio_tokens: heard }),
    },
    completion_tokens_details: {
      reasoning_tokens: thought,
      ...(spoken !== undefined && { audio_tokens: spoken }),
    },
  };
}

/** https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/GenerateContentResponse#TrafficType */
const TIERS: Readonly<Partial<Record<string, string>>> = {
  ON_DEMAND: 'default',
  ON_DEMAND_PRIORITY: 'priority',
  ON_DEMAND_FLEX: 'flex',
  // Bought ahead, as OpenAI's scale tier is.
  PROVISIONED_THROUGHPUT: 'scale',
};

/** At which tier an answer was served, in OpenAI's words: on it depends what it costs. */
export function serviceTier(native: unknown): JsonObject {
  const traffic = member(native, 'trafficType');
  const tier = typeof traffic === 'string' ? entryOf(TIERS, traffic) : undefined;
  return tier === undefined ? {} : { service_tier: tier };
}

function audioIn(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const audio: unknown = details.find((detail: unknown) => member(detail, 'modality') === 'AUDIO');
  return count(audio, 'tokenCount');
}

function count(value: unknown, key: string): number | undefined {
  const found = member(value, key);
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}
