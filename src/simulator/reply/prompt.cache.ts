import { createHash } from 'node:crypto';
import type { JsonObject } from '../request/json.checks.js';
import type { ReplyCounter } from './reply.counter.js';

/** OpenAI's prompt caching: prefixes from 1,024 tokens on, in steps of 128. */
const LEAST_TOKENS = 1_024;
const STEP_TOKENS = 128;
const MAX_PREFIXES = 10_000;

/** Remembers which prompt prefixes (whole messages) were seen, the latest 10,000 of them. */
export class PromptCache {
  private readonly prefixes = new Set<string>();

  /** Tokens of the prompt that were cached before this call, which caches it. */
  async visit(body: JsonObject, promptTokens: number, counter: ReplyCounter): Promise<number> {
    if (promptTokens < LEAST_TOKENS) {
      return 0;
    }
    const messages: readonly unknown[] = Array.isArray(body['messages']) ? body['messages'] : [];
    let prefix = digest(JSON.stringify([body['model'], body['tools']]));
    let tokens = 0;
    let seenTokens = 0;
    for (const message of messages) {
      prefix = digest(prefix + JSON.stringify(message));
      tokens += await counter.countMessage(message);
      seenTokens = this.prefixes.has(prefix) ? tokens : seenTokens;
      this.remember(prefix);
    }
    const cached = Math.floor(Math.min(seenTokens, promptTokens) / STEP_TOKENS) * STEP_TOKENS;
    return cached < LEAST_TOKENS ? 0 : cached;
  }

  private remember(prefix: string): void {
    this.prefixes.delete(prefix);
    this.prefixes.add(prefix);
    const [oldest] = this.prefixes;
    if (this.prefixes.size > MAX_PREFIXES && oldest !== undefined) {
      this.prefixes.delete(oldest);
    }
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
