import { errorBody, toApiError } from '../../http/index.js';
import { readReasoningTokens } from '../ledger/bill.js';
import { DeliveredText } from '../ledger/delivered.text.js';
import { pricedUsage, priceOf, readUsage, type Usage } from './cost.js';
import { type Edit, editObject } from '../wire/json-text.js';
import type { ChunkEvent, StreamEvent } from '../upstream/provider.adapter.js';
import type { PriceSettings } from '../../config/index.js';
import { isUsageOnly } from '../wire/chat-chunk.js';

export interface ChunkWriterOptions {
  /** The catalogue name: what the caller sees in `model`. */
  readonly model: string;
  /** The caller asked for usage in the stream. */
  readonly wantsUsage: boolean;
  /** Undefined: unpriced, `usage` carries no cost. */
  readonly prices?: PriceSettings;
  /** Told of every chunk. */
  readonly came?: ((chunk: ChunkEvent['value']) => void) | undefined;
}

/** Writes a stream's events as server-sent events for the caller: the provider's chunks but for `model` and `usage`. */
export class ChunkWriter {
  /** The last usage that came by. */
  usage: Usage | undefined;
  /** Of its completion's tokens those that were thought and not said. */
  reasoningTokens = 0;
  /** What came of the answer. */
  readonly delivered = new DeliveredText();
  readonly #model: string;
  #tier: unknown;

  constructor(private readonly options: ChunkWriterOptions) {
    this.#model = JSON.stringify(options.model);
  }

  write(event: StreamEvent): string {
    if (event.kind === 'chunk') return this.writeChunk(event);
    return event.kind === 'done' ? 'data: [DONE]\n\n' : ': keep-alive\n\n';
  }

  private writeChunk({ text, value }: ChunkEvent): string {
    // Some say it at the beginning only.
    this.#tier = value['service_tier'] ?? this.#tier;
    const usage = readUsage(value['usage'], this.#tier);
    if (usage !== undefined) {
      this.usage = usage;
      this.reasoningTokens = readReasoningTokens(value['usage'], usage.completionTokens);
    }
    this.delivered.add(value);
    this.options.came?.(value);
    const { wantsUsage } = this.options;
    if (!wantsUsage && isUsageOnly(value)) return '';
    return frame(editObject(text, { model: this.#model, usage: wantsUsage ? this.#priced(usage) : undefined }));
  }

  #priced(usage: Usage | undefined): Edit {
    const cost = priceOf(usage, this.options.prices);
    return (text) => pricedUsage(text, cost);
  }
}

/** The frame that ends a stream which can't be completed: no `[DONE]` follows it, so that clients raise it (openai-node: APIError). */
export function errorFrame(error: unknown): string {
  return frame(JSON.stringify(errorBody(toApiError(error))));
}

/** JSON has line breaks only between tokens, where they mean nothing; in an event they would end its line. */
function frame(json: string): string {
  return `data: ${json.includes('\n') ? json.replaceAll('\n', ' ') : json}\n\n`;
}
