import type { SeededRandom } from '../simulation/seeded.random.js';
import { monotonicNow } from './lock-worker.js';
import { pass } from './pass.js';

/** Something bad that happens to one of the processes, and is over when it resolves. */
export interface Disturbance {
  readonly name: string;
  /** Two of one target never happen at once. */
  readonly target: string;
  readonly weight: number;
  /** @param random chance of the schedule; to be used before the first await only, so that a seed repeats */
  happen(random: SeededRandom): Promise<void>;
}

export interface ChaosOptions {
  readonly durationMs: number;
  /** Between two disturbances, at most; half of it on average. */
  readonly pauseMs: number;
}

/** Lets disturbances happen by a seeded schedule, and waits until the last is over. @returns what happened when */
export async function disturb(
  disturbances: readonly Disturbance[],
  random: SeededRandom,
  { durationMs, pauseMs }: ChaosOptions,
): Promise<readonly string[]> {
  const startedAt = monotonicNow();
  const happened: string[] = [];
  const going = new Map<string, Promise<void>>();
  while (monotonicNow() - startedAt < durationMs) {
    const next = pick(disturbances, random);
    if (next !== undefined && !going.has(next.target)) {
      happened.push(`${Math.round(monotonicNow() - startedAt)} ms: ${next.name}`);
      const over = next.happen(random).finally(() => going.delete(next.target));
      going.set(next.target, over);
    }
    // A disturbance that fails is a fault of the test, told at once.
    await Promise.race([pass(random.next() * pauseMs), failures(going)]);
  }
  await Promise.all(going.values());
  return happened;
}

function pick(disturbances: readonly Disturbance[], random: SeededRandom): Disturbance | undefined {
  const total = disturbances.reduce((sum, { weight }) => sum + weight, 0);
  let at = random.next() * total;
  return disturbances.find(({ weight }) => (at -= weight) < 0);
}

/** Rejects when one fails; never resolves. */
function failures(going: ReadonlyMap<string, Promise<void>>): Promise<never> {
  return new Promise((_, reject) => {
    for (const over of going.values()) over.catch(reject);
  });
}
