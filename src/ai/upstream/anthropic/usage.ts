import { entryOf, isObject, type JsonObject, member } from '../../wire/json-value.js';

/**
 * The Messages API's usage in OpenAI's shape. There `input_tokens` are only those that no cache was asked about; OpenAI's
 * `prompt_tokens` are all. Tokens written to the cache have a price of their own, so they are told beside those read from it:
 * `cache_write_tokens`, and those of them that were written for an hour, `cache_write_1h_tokens`.
 *
 * @param native - its members are cumulative: the last word of a stream
 * @returns undefined where the counts are none
 */
export function openAiUsage(native: JsonObject): JsonObject | undefined {
  const input = count(native['input_tokens']);
  const output = count(native['output_tokens']);
  if (input === undefined || output === undefined) return undefined;
  const read = count(native['cache_read_input_tokens']) ?? 0;
  const written = count(native['cache_creation_input_tokens']) ?? 0;
  const writtenForAnHour = count(member(native['cache_creation'], 'ephemeral_1h_input_tokens')) ?? 0;
  const thought = count(member(native['output_tokens_details'], 'thinking_tokens'));
  return {
    prompt_tokens: input + read + written,
    completion_tokens: output,
    total_tokens: input + read + written + output,
    prompt_tokens_details: {
      cached_tokens: read,
      cache_write_tokens: written,
      ...(writtenForAnHour > 0 && { cache_write_1h_tokens: writtenForAnHour }),
    },
    ...(thought !== undefined && { completion_tokens_details: { reasoning_tokens: thought } }),
  };
}

/** A `batch` is asked for elsewhere, and OpenAI has no word for it. */
const TIERS: Readonly<Partial<Record<string, string>>> = { standard: 'default', priority: 'priority' };

/** At which tier an answer was served, in OpenAI's words: on it depends what it costs. */
export function servedTier({ service_tier: native }: JsonObject): JsonObject {
  const tier = typeof native === 'string' ? entryOf(TIERS, native) : undefined;
  return tier === undefined ? {} : { service_tier: tier };
}

/** What is known after one more usage object: a stream says some counts at its start, and all that change again at its end. */
export function laterUsage(known: JsonObject, told: unknown): JsonObject {
  if (!isObject(told)) return known;
  return { ...known, ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== null)) };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
