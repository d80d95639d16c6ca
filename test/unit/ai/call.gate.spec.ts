import { describe, expect, it } from '@jest/globals';
import type { Reservation } from '../../../src/admission/index.js';
import { CallGate } from '../../../src/ai/call/call.gate.js';
import type { UpstreamGate } from '../../../src/ai/call/upstream.gate.js';
import { AttemptQuota } from '../../../src/ai/quota/attempt.quota.js';
import type { CallQuota } from '../../../src/ai/quota/call.quota.js';
import { candidateAt } from '../../support/sequence-bench.js';

const IN_TIME_MS = 150;
const CALLS = 20;
/** So many find out slowly whether they may call: asking takes longer than a grant is good for. */
const SLOW = 6;
const SLOW_MS = 40;

/** A window that lets many in at one moment, as often as they ask. */
class BurstBench {
  readonly lateness: number[] = [];
  readmitted = 0;
  #nowMs = 0;
  #asked = 0;

  async call(): Promise<void> {
    const gate = new CallGate(
      { obstacleAt, enter: () => this.#enter(), forgo: obstacleAt } as unknown as UpstreamGate,
      this.#quota(),
    );
    const candidate = candidateAt(0);
    expect(await gate.enter(candidate, 1_000)).toBeUndefined();
    gate.take().sent();
  }

  #enter(): Promise<undefined> {
    this.#asked += 1;
    if (this.#asked <= SLOW) this.#nowMs += SLOW_MS;
    return Promise.resolve(undefined);
  }

  #quota(): CallQuota {
    const attempt = (): Promise<AttemptQuota> => {
      const grantedAt = this.#nowMs;
      const reservation = {
        queueMs: 0,
        mayStillSend: () => this.#nowMs - grantedAt <= IN_TIME_MS,
        sent: () => void this.lateness.push(this.#nowMs - grantedAt),
        cancel: () => Promise.resolve(void (this.readmitted += 1)),
      };
      const estimate = { outputTokens: 1, tokens: 1, microUsd: 0 };
      return Promise.resolve(new AttemptQuota(estimate, [reservation as unknown as Reservation]));
    };
    return { attempt } as unknown as CallQuota;
  }
}

function obstacleAt(): undefined {
  return undefined;
}

describe('CallGate.enter()', () => {
  it('lets no call go out late, however many were let in with it: who would be is let in once more', async () => {
    const bench = new BurstBench();
    await Promise.all(Array.from({ length: CALLS }, () => bench.call()));
    expect(bench.lateness).toHaveLength(CALLS);
    expect(bench.lateness.filter((ms) => ms > IN_TIME_MS)).toEqual([]);
    expect(bench.readmitted).toBeGreaterThan(0);
  });
});
