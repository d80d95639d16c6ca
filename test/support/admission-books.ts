import type { SeededRandom } from '../simulation/seeded.random.js';
import type { JudgedCall } from './admission-judge.js';
import type { WorldCall, WorldFaults } from './admission-plan.js';

/** What happened in a world, as the upstream and an onlooker saw it. */
export class WorldBooks {
  readonly calls: JudgedCall[] = [];
  /** How often an acquire was answered so; and `late`, for grants that came too late to be sent. */
  readonly answers = new Map<string, number>();
  /** Most that was ever spent and reserved of the first budget. */
  mostSpent = 0;
  billed = 0;
  readonly #inFlight = new Map<WorldCall, number>();

  count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }

  sent(call: WorldCall, arrivedAt: number): void {
    this.#inFlight.set(call, arrivedAt);
  }

  /** It came to its end, or its process did while it was on its way or under way. */
  ended(call: WorldCall, now: number): void {
    const arrivedAt = this.#inFlight.get(call);
    this.#inFlight.delete(call);
    if (arrivedAt === undefined) return;
    const { flow } = call.caller;
    this.calls.push({ flow, arrivedAt, endedAt: Math.max(arrivedAt, now), ...call.tokens });
  }
}

export function drawTokens(random: SeededRandom, { overrun }: WorldFaults): WorldCall['tokens'] {
  const prompt = 10 + random.below(90);
  const estimated = prompt + 10 + random.below(190);
  const most = random.chance(overrun) ? 2 * estimated : estimated;
  return { prompt, estimated, actual: prompt + random.below(most - prompt + 1) };
}
