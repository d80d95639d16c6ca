import type { PlannedChoice } from './reply.planner.js';

/** A reply with everything that its two shapes, JSON and stream, are written from. */
export interface Completion {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  /** The catalogue name. */
  readonly model: string;
  readonly choices: readonly PlannedChoice[];
  /** Undefined: the provider tells no usage. */
  readonly usage: unknown;
}

export interface UsageCounts {
  readonly promptTokens: number;
  /** Part of promptTokens. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
}

/** OpenAI's usage object. */
export function usageBody({ promptTokens, cachedTokens, completionTokens }: UsageCounts): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** The members that every object of one completion carries. */
export function envelope(completion: Completion, object: string): object {
  const { id, created, model } = completion;
  return { id, object, created, model, service_tier: 'default', system_fingerprint: 'fp_simulator' };
}

/** The body of a reply that is not streamed. */
export function completionBody(completion: Completion): object {
  const choices = completion.choices.map((choice, index) => ({
    index,
    message: {
      role: 'assistant',
      content: choice.toolCalls.length > 0 ? null : choice.text,
      refusal: null,
      ...(choice.toolCalls.length > 0 && {
        tool_calls: choice.toolCalls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        })),
      }),
      annotations: [],
    },
    logprobs: null,
    finish_reason: choice.finishReason,
  }));
  const { usage } = completion;
  return { ...envelope(completion, 'chat.completion'), choices, ...(usage !== undefined && { usage }) };
}
