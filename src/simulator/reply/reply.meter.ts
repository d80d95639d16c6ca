import type { Frame } from './completion.frames.js';
import type { UsageCounts } from './completion.js';
import type { PlannedChoice } from './reply.planner.js';
import type { ReplyCounter } from './reply.counter.js';

/** Keeps what a stream has said, for a reply that does not get to its end. */
export class ReplyMeter {
  private said: string[] | undefined;

  constructor(
    private readonly usage: UsageCounts,
    private readonly choices: readonly PlannedChoice[],
    private readonly counter: ReplyCounter,
  ) {}

  /** A frame is out. */
  add({ said }: Frame): void {
    this.said ??= this.choices.map(() => '');
    if (said !== undefined) this.said[said.choice] = (this.said[said.choice] ?? '') + said.text;
  }

  /** The prompt and what has been said; undefined before the first frame. */
  async bill(): Promise<UsageCounts | undefined> {
    if (this.said === undefined) return undefined;
    const tokens = await Promise.all(this.said.map((text) => this.counter.count(text)));
    const billed = tokens.map((each, index) => Math.min(each, this.choices[index]?.tokens ?? each));
    return { ...this.usage, completionTokens: billed.reduce((sum, each) => sum + each, 0) };
  }
}
