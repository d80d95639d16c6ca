import { parseChatRequest, type ChatRequest } from '../request/chat.request.js';
import { completionBody, usageBody, type Completion, type UsageCounts } from '../reply/completion.js';
import { completionFrames } from '../reply/completion.frames.js';
import type { ModelCatalogue } from './model.catalogue.js';
import type { PromptCache } from '../reply/prompt.cache.js';
import { invalidRequest } from '../provider.error.js';
import { providerHeaders } from './provider.headers.js';
import type { ReplyDelivery } from '../wire/reply.delivery.js';
import { ReplyMeter } from '../reply/reply.meter.js';
import { planReply } from '../reply/reply.planner.js';
import { rawFrames } from '../wire/reply.player.js';
import type { ScriptedBehaviour } from '../script/script.js';
import type { SimulatedModel } from '../simulator.options.js';
import type { TrafficRecord } from '../traffic/traffic.record.js';

export interface ChatCall {
  /** The parsed JSON. */
  readonly body: unknown;
  readonly behaviour: ScriptedBehaviour;
  readonly delivery: ReplyDelivery;
  readonly record: TrafficRecord;
  /** Where they have been counted already. */
  readonly promptTokens?: number;
}

/** POST /v1/chat/completions. */
export class ChatEndpoint {
  constructor(
    private readonly models: ModelCatalogue,
    private readonly cache: PromptCache,
    private readonly seed: number,
  ) {}

  /** @throws ProviderError 400 or 404; the signal's reason when the client has left. */
  async answer(call: ChatCall): Promise<void> {
    const { body, behaviour, delivery, record } = call;
    const request = parseChatRequest(body);
    const model = this.models.get(request.model);
    const { completion, usage } = await this.complete(request, model, call);
    const meter = new ReplyMeter(usage, completion.choices, this.models.counterOf(model));
    record.usage = usage;
    const headers = providerHeaders(record.id);
    if (behaviour.frames !== undefined) {
      await delivery.stream(headers, rawFrames(behaviour.frames));
    } else if (request.isStream) {
      record.meter = meter;
      await delivery.stream(headers, completionFrames(completion, request.includesUsage), (frame) => {
        meter.add(frame);
      });
    } else {
      const position = Math.max(...completion.choices.map((choice) => choice.tokens));
      await delivery.body(200, headers, { text: JSON.stringify(completionBody(completion)), position });
    }
  }

  private async complete(
    request: ChatRequest,
    model: SimulatedModel,
    { behaviour, record, promptTokens: known }: ChatCall,
  ): Promise<{ completion: Completion; usage: UsageCounts }> {
    const counter = this.models.counterOf(model);
    const promptTokens = known ?? (await counter.countRequest(request.body));
    const maxTokens = outputLimit(request, model, promptTokens);
    const cachedTokens = await this.cache.visit(request.body, promptTokens, counter);
    const { text } = behaviour;
    const plan = { seed: this.seed, maxTokens, counter, ...(text !== undefined && { text }) };
    const choices = await planReply(request, plan);
    const completionTokens = choices.reduce((sum, choice) => sum + choice.tokens, 0);
    const usage = { promptTokens, cachedTokens, completionTokens };
    const told = behaviour.usage === undefined ? usageBody(usage) : (behaviour.usage ?? undefined);
    const id = `chatcmpl-${record.id.replace('req_', '')}`;
    return {
      completion: { id, created: Math.floor(record.at / 1_000), model: model.name, choices, usage: told },
      usage,
    };
  }
}

/**
 * Tokens that a choice may hold.
 * @throws ProviderError 400 when the prompt, or the prompt and the tokens asked for, exceed the model's window; OpenAI's wording.
 */
function outputLimit(request: ChatRequest, model: SimulatedModel, promptTokens: number): number {
  const { maxTokens } = request;
  const { contextWindow, maxOutputTokens } = model;
  const param = request.body['max_completion_tokens'] === undefined ? 'max_tokens' : 'max_completion_tokens';
  if (maxTokens !== undefined && maxTokens > maxOutputTokens) {
    const limit = `This model supports at most ${String(maxOutputTokens)} completion tokens, whereas you provided ${String(maxTokens)}.`;
    throw invalidRequest(`${param} is too large: ${String(maxTokens)}. ${limit}`, param, 'invalid_value');
  }
  const fits = `This model's maximum context length is ${String(contextWindow)} tokens.`;
  if (promptTokens > contextWindow) {
    const message = `${fits} However, your messages resulted in ${String(promptTokens)} tokens. Please reduce the length of the messages.`;
    throw invalidRequest(message, 'messages', 'context_length_exceeded');
  }
  const left = model.separateInputLimit === true ? maxOutputTokens : contextWindow - promptTokens;
  if (maxTokens !== undefined && maxTokens > left) {
    const parts = `(${String(promptTokens)} in the messages, ${String(maxTokens)} in the completion)`;
    const message = `${fits} However, you requested ${String(promptTokens + maxTokens)} tokens ${parts}. Please reduce the length of the messages or completion.`;
    throw invalidRequest(message, 'messages', 'context_length_exceeded');
  }
  return Math.min(maxTokens ?? maxOutputTokens, left);
}
