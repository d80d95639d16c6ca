import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../ai/index.js';
import { type CountOptions, type Encoding, type TokenCount, TokenCounters } from '../../tokens/index.js';
import type { CountedTokens } from '../store/index.js';
import { chatMessage, type ToldMessage } from './chat.messages.js';

/** Pictures and the like are counted in tokens; where bytes stand for tokens, each of them counts as so many. */
const BYTES_PER_TOKEN = 3;

/** A count, and whether it is one: a bound is not worth keeping. */
export interface MessageCount {
  readonly counted: CountedTokens;
  readonly isBound: boolean;
}

/** Counts messages by encodings, once for all the models that differ in their ratios only. */
@Injectable()
export class MessageCounter {
  constructor(private readonly counters: TokenCounters) {}

  /** @throws the signal's reason */
  async count(message: ToldMessage, encoding: Encoding, options?: CountOptions): Promise<MessageCount> {
    const counter = this.counters.for({ encoding, ratio: 1 });
    const whole = await counter.countMessage(chatMessage(message), options);
    const rest =
      message.toolCalls === undefined ? whole : await counter.countMessage(chatMessage(message, true), options);
    const tokens = sumOf(whole, encoding);
    return {
      counted: { encoding, tokens, callTokens: Math.max(0, tokens - sumOf(rest, encoding)) },
      isBound: whole.isEstimate || rest.isEstimate,
    };
  }

  /** UTF-8 bytes: at least as many as there are tokens, whatever the encoding. */
  async bytes(message: ToldMessage): Promise<CountedTokens> {
    return (await this.count(message, 'bytes')).counted;
  }

  /** What is worth keeping of a message: its bytes, and its tokens where they could be counted in time. */
  async keep(message: ToldMessage, encoding: Encoding, options?: CountOptions): Promise<readonly CountedTokens[]> {
    const bytes = await this.bytes(message);
    if (encoding === 'bytes') return [bytes];
    const { counted, isBound } = await this.count(message, encoding, options);
    return isBound ? [bytes] : [bytes, counted];
  }

  /** A system prompt. */
  async system(text: string, encoding: Encoding, options?: CountOptions): Promise<MessageCount> {
    const counter = this.counters.for({ encoding, ratio: 1 });
    const count = await counter.countMessage({ role: 'system', content: text }, options);
    return { counted: { encoding, tokens: sumOf(count, encoding), callTokens: 0 }, isBound: count.isEstimate };
  }

  /** What is sent beside messages: tools, the form of the answer, and what primes it. */
  async frame(parameters: JsonObject, encoding: Encoding, options?: CountOptions): Promise<MessageCount> {
    const { tools, functions, response_format } = parameters;
    const body = { messages: [], tools, functions, response_format };
    const count = await this.counters.for({ encoding, ratio: 1 }).countRequest(body, options);
    return { counted: { encoding, tokens: sumOf(count, encoding), callTokens: 0 }, isBound: count.isEstimate };
  }
}

function sumOf({ textTokens, attachmentTokens }: TokenCount, encoding: Encoding): number {
  return textTokens + attachmentTokens * (encoding === 'bytes' ? BYTES_PER_TOKEN : 1);
}
