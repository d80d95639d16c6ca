import type { TokenCounter } from '../../tokens/index.js';

/** A provider's usage is exact: it waits for its count. */
const OPTIONS = { patienceMs: 60_000 } as const;

/** Counts as a model's provider does. */
export class ReplyCounter {
  constructor(private readonly counter: TokenCounter) {}

  async count(text: string): Promise<number> {
    return (await this.counter.count(text, OPTIONS)).tokens;
  }

  async countMessage(message: unknown): Promise<number> {
    return (await this.counter.countMessage(message, OPTIONS)).tokens;
  }

  async countRequest(body: unknown): Promise<number> {
    return (await this.counter.countRequest(body, OPTIONS)).tokens;
  }
}
