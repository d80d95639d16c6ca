import { beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { LockMetrics } from '../../src/lock.metrics.js';
import { LockService, MemoryLockStore } from '../../src/lock/index.js';

let registry: Registry;
let metrics: LockMetrics;
beforeEach(() => {
  registry = new Registry();
  metrics = new LockMetrics(registry);
});

/** The lines of one series, without the buckets. */
async function linesOf(name: string): Promise<readonly string[]> {
  const lines = (await registry.metrics()).split('\n');
  return lines.filter((line) => line.startsWith(name) && !line.includes('_bucket'));
}

describe('LockMetrics', () => {
  it('sums up how many wait', async () => {
    metrics.waiting('order:*', 1);
    metrics.waiting('order:*', 1);
    metrics.waiting('order:*', -1);
    expect(await linesOf('coordinator_lock_waiting')).toEqual(['coordinator_lock_waiting{template="order:*"} 1']);
  });

  it('takes down how long waits took, by their outcome, and which were contended', async () => {
    metrics.waited('order:*', { outcome: 'granted', waitMs: 250, isContended: true });
    metrics.waited('order:*', { outcome: 'timeout', waitMs: 10_000, isContended: true });
    metrics.waited('cron:*', { outcome: 'busy', waitMs: 0, isContended: false });
    expect(await linesOf('coordinator_lock_wait_seconds')).toEqual([
      'coordinator_lock_wait_seconds_sum{template="order:*",outcome="granted"} 0.25',
      'coordinator_lock_wait_seconds_count{template="order:*",outcome="granted"} 1',
      'coordinator_lock_wait_seconds_sum{template="order:*",outcome="timeout"} 10',
      'coordinator_lock_wait_seconds_count{template="order:*",outcome="timeout"} 1',
      'coordinator_lock_wait_seconds_sum{template="cron:*",outcome="busy"} 0',
      'coordinator_lock_wait_seconds_count{template="cron:*",outcome="busy"} 1',
    ]);
    expect(await linesOf('coordinator_lock_contended_total')).toEqual([
      'coordinator_lock_contended_total{template="order:*"} 2',
    ]);
  });

  it('counts every end of a hold but its release as a loss', async () => {
    for (const end of ['released', 'expired', 'revoked', 'revoked', 'closing'] as const) {
      metrics.held('order:*', { end, holdMs: 500 });
    }
    expect(await linesOf('coordinator_lock_lost_total')).toEqual([
      'coordinator_lock_lost_total{template="order:*",reason="expired"} 1',
      'coordinator_lock_lost_total{template="order:*",reason="revoked"} 2',
      'coordinator_lock_lost_total{template="order:*",reason="closing"} 1',
    ]);
    expect(await linesOf('coordinator_lock_hold_seconds_sum')).toContain(
      'coordinator_lock_hold_seconds_sum{template="order:*",end="released"} 0.5',
    );
  });

  it('sums up how many are held, however they end', async () => {
    for (const outcome of ['granted', 'granted', 'busy', 'timeout'] as const) {
      metrics.waited('order:*', { outcome, waitMs: 1, isContended: false });
    }
    metrics.held('order:*', { end: 'expired', holdMs: 500 });
    expect(await linesOf('coordinator_lock_held')).toEqual(['coordinator_lock_held{template="order:*"} 1']);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('does not throw at a duration of %p', async (duration) => {
    metrics.waited('order:*', { outcome: 'granted', waitMs: duration, isContended: false });
    metrics.held('order:*', { end: 'released', holdMs: duration });
    expect(await linesOf('coordinator_lock_hold_seconds_sum')).toEqual([
      'coordinator_lock_hold_seconds_sum{template="order:*",end="released"} 0',
    ]);
  });

  it('never learns a key from the locks that it watches', async () => {
    const locks = new LockService(new MemoryLockStore(), { observer: metrics });
    const lease = await locks.acquire('secret@example.com:cart');
    expect(await linesOf('coordinator_lock_held')).toEqual(['coordinator_lock_held{template="*"} 1']);
    expect(await locks.tryAcquire('secret@example.com:cart', { template: 'cart:*' })).toBeUndefined();
    await lease.release();
    await locks.withLock('secret-18', { template: 'job:*' }, () => undefined);
    await locks.close();
    const page = await registry.metrics();
    expect(page).not.toContain('secret');
    expect(page).toContain('coordinator_lock_wait_seconds_count{template="cart:*",outcome="busy"} 1');
    expect(page).toContain('coordinator_lock_contended_total{template="cart:*"} 1');
    expect(page).toContain('coordinator_lock_hold_seconds_count{template="job:*",end="released"} 1');
    expect(page).toContain('coordinator_lock_waiting{template="*"} 0');
    expect(await linesOf('coordinator_lock_held')).toEqual([
      'coordinator_lock_held{template="*"} 0',
      'coordinator_lock_held{template="job:*"} 0',
    ]);
  });
});
