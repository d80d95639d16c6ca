import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { showDrain } from '../../src/drain.metrics.js';
import { Drain } from '../../src/http/index.js';

describe('showDrain()', () => {
  it('is 0 while requests are taken, and 1 from the beginning of the drain to its end', async () => {
    const registry = new Registry();
    const drain = new Drain({ drainDelayMs: 1, shutdownGraceMs: 1, flushMs: 1 });
    showDrain(registry, drain);
    const shown = async (): Promise<readonly string[]> =>
      (await registry.metrics()).split('\n').filter((line) => line.startsWith('coordinator_draining'));
    expect(await shown()).toEqual(['coordinator_draining 0']);
    const drained = drain.run();
    expect(await shown()).toEqual(['coordinator_draining 1']);
    await drained;
    expect(await shown()).toEqual(['coordinator_draining 1']);
  });
});
