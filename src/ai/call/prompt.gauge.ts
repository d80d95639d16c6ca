import { Inject, Injectable } from '@nestjs/common';
import type { ModelSettings } from '../../config/index.js';
import { LOGGER, type Logger } from '../../observability/index.js';
import { type CountOptions, type Encoding, type TokenCount, TokenCounters } from '../../tokens/index.js';
import { Fleet } from '../fleet/index.js';
import type { JsonObject } from '../wire/json-value.js';
import type { CompletionCall } from './completion-call.js';

/** Of the calls that were not counted anyway, one in so many is, so that the models' ratios are learned. */
const SAMPLED_ONE_IN = 50;
/** Longer prompts are counted only where the count is needed, characters. */
const SAMPLED_LENGTH = 32_768;
/** The longest that a call waits for a count, ms; after that an upper bound has to do. */
const LONGEST_PATIENCE_MS = 2_000;
/** It waits no longer than this part of what is left of its deadline. */
const PART_OF_DEADLINE = 0.1;

/** Counts prompts as the models would, and learns from the providers' own counts how far off that is. */
@Injectable()
export class PromptGauge {
  /** Of each call's body, by encoding: models differ in their ratios only. */
  readonly #counts = new WeakMap<JsonObject, Map<Encoding, TokenCount>>();

  constructor(
    private readonly counters: TokenCounters,
    private readonly fleet: Fleet,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @throws the signal's reason when the caller has left */
  async promptTokens(call: CompletionCall, model: ModelSettings): Promise<number> {
    return (await this.count(call, model)).tokens;
  }

  /** @throws the signal's reason when the caller has left */
  async count(call: CompletionCall, model: ModelSettings, patienceMs = patienceOf(call)): Promise<TokenCount> {
    return this.scaled(await this.encoded(call.body, model, { signal: call.signal, patienceMs }), model);
  }

  /** What a call took whose provider did not say: of its prompt, and of what came. The call may be over, and its caller gone. */
  async taken(
    { body }: CompletionCall,
    model: ModelSettings,
    delivered: string,
  ): Promise<{ readonly promptTokens: number; readonly deliveredTokens: number }> {
    const [prompt, text] = await Promise.all([
      this.encoded(body, model, {}),
      this.counters.for({ encoding: model.tokenizer.encoding, ratio: 1 }).count(delivered),
    ]);
    return { promptTokens: this.scaled(prompt, model).tokens, deliveredTokens: this.scaled(text, model).tokens };
  }

  /** Compares with what the provider has counted. Never rejects: nobody waits for it. */
  async learn(call: CompletionCall, model: ModelSettings, promptTokens: number): Promise<void> {
    const { encoding, ratio } = model.tokenizer;
    const isCounted = this.#counts.get(call.body)?.has(encoding) === true;
    if (!isCounted && (call.bodyText.length > SAMPLED_LENGTH || Math.random() * SAMPLED_ONE_IN >= 1)) return;
    try {
      const count = await this.encoded(call.body, model, { signal: call.signal, patienceMs: LONGEST_PATIENCE_MS });
      if (!isTelling(count) || promptTokens === 0) return;
      this.fleet.tokens.counted(model.name, { ours: count.textTokens * ratio, providers: promptTokens });
    } catch (error) {
      // The sample is lost, nothing else.
      if (!call.signal.aborted) this.logger.warn({ model: model.name, err: error }, 'a prompt could not be counted');
    }
  }

  private scaled(count: TokenCount, model: ModelSettings): TokenCount {
    const ratio = model.tokenizer.ratio * this.fleet.tokens.of(model.name);
    return { ...count, tokens: Math.ceil(Number((count.textTokens * ratio).toFixed(6))) + count.attachmentTokens };
  }

  private async encoded(body: JsonObject, { tokenizer }: ModelSettings, options: CountOptions): Promise<TokenCount> {
    const { encoding } = tokenizer;
    const counts = this.#counts.get(body) ?? new Map<Encoding, TokenCount>();
    this.#counts.set(body, counts);
    const known = counts.get(encoding);
    if (known !== undefined) return known;
    const count = await this.counters.for({ encoding, ratio: 1 }).countRequest(body, options);
    counts.set(encoding, count);
    return count;
  }
}

/** Bounds and allowances say nothing of a ratio. */
function isTelling({ isEstimate, attachmentTokens, textTokens }: TokenCount): boolean {
  return !isEstimate && attachmentTokens === 0 && textTokens > 0;
}

function patienceOf({ deadlineMs, startedAt }: CompletionCall): number {
  const remainingMs = deadlineMs - (performance.now() - startedAt);
  return Math.max(0, Math.min(LONGEST_PATIENCE_MS, remainingMs * PART_OF_DEADLINE));
}
