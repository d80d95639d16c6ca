import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { LatencyProfile } from '../../config/index.js';

/** Frames that may be written before other work gets its turn. */
const FRAMES_PER_TURN = 32;

/** When the tokens of one reply are due. */
export class LatencyClock {
  private started = performance.now();
  private sinceTurn = 0;

  /** @param speed divides all delays */
  constructor(
    private readonly profile: LatencyProfile,
    private readonly speed: number,
    private readonly signal: AbortSignal,
  ) {}

  /** The reply's time begins now, not at construction. */
  restart(): void {
    this.started = performance.now();
  }

  get elapsedMs(): number {
    return performance.now() - this.started;
  }

  /**
   * Waits until the token at `position` is generated. `onWait` runs every now and then while there is time left.
   * @throws the signal's reason when the client has left.
   */
  async until(position: number, onWait?: () => Promise<void>): Promise<void> {
    const due = (this.profile.firstTokenMs + (position * 1_000) / this.profile.tokensPerSecond) / this.speed;
    const waitMs = due - this.elapsedMs;
    if (waitMs >= 1) {
      this.sinceTurn = 0;
      return pause(waitMs, this.signal, onWait);
    }
    this.sinceTurn += 1;
    if (this.sinceTurn >= FRAMES_PER_TURN) {
      this.sinceTurn = 0;
      await nextTurn(undefined, { signal: this.signal });
    }
  }
}

/** Node's longest timer. */
export const FOREVER_MS = 2_147_483_647;
const KEEP_ALIVE_MS = 50;

/** Waits; `onWait` runs at once and every 50 ms. */
export async function pause(waitMs: number, signal: AbortSignal, onWait?: () => Promise<void>): Promise<void> {
  if (onWait === undefined) {
    return sleep(waitMs, undefined, { signal });
  }
  for (let left = waitMs; left > 0; left -= KEEP_ALIVE_MS) {
    await onWait();
    await sleep(Math.min(left, KEEP_ALIVE_MS), undefined, { signal });
  }
}
