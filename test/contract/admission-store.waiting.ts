import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ScopeLimits } from '../../src/admission/admission.rules.js';
import { type AdmissionBench, scopeOf, ScopeDriver } from '../support/admission-bench.js';

/** The queue of a scope. */
export function describeWaiting(start: () => Promise<AdmissionBench>): void {
  let bench: AdmissionBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const drive = (limits: ScopeLimits): ScopeDriver => new ScopeDriver(bench, scopeOf(limits));
  const waiting = { waitMs: 60_000 };

  it('gives a slot that comes free to who waits, and tells its process', async () => {
    const driver = drive({ concurrency: 1 });
    await driver.acquire('p1-1');
    expect(await driver.acquire('p2-1', waiting)).toMatchObject({ kind: 'waiting', rule: { kind: 'slots', limit: 1 } });
    expect(await driver.acquire('p3-1')).toMatchObject({ kind: 'refused', rule: { kind: 'slots' }, isExact: false });
    const { nowMs } = await driver.settle('p1-1');
    const atMs = bench.clock.us / 1_000;
    expect(await bench.heard()).toEqual([
      ['p2', { scope: 'deployment:one', nowMs, notices: [{ kind: 'granted', id: 'p2-1', atMs }] }],
    ]);
  });

  it('tells the process that asks in its answer', async () => {
    const driver = drive({ concurrency: 1 });
    await driver.acquire('p1-1');
    await driver.acquire('p1-2', waiting);
    expect((await driver.settle('p1-1')).notices).toMatchObject([{ kind: 'granted', id: 'p1-2' }]);
    expect(await bench.heard()).toEqual([]);
  });

  it('serves a flow in the order of its coming, over all processes', async () => {
    const driver = drive({ concurrency: 1 });
    await driver.acquire('p1-0');
    const ids = ['p2-1', 'p1-1', 'p3-1', 'p2-2'];
    for (const id of ids) await driver.acquire(id, waiting);
    const served: string[] = [];
    for (let open = 'p1-0'; served.length < ids.length; open = served.at(-1) ?? '') {
      const { notices } = await driver.settle(open);
      served.push(...[...notices, ...(await driver.told())].map(({ id }) => id));
    }
    expect(served).toEqual(ids);
  });

  it('shares among flows by their weights, however many each sends', async () => {
    const driver = drive({ concurrency: 1 });
    await driver.acquire('p1-0', { flow: 'none' });
    for (let number = 0; number < 40; number += 1) await driver.acquire(`p1-a${number}`, { ...waiting, flow: 'a' });
    for (let number = 0; number < 20; number += 1) {
      await driver.acquire(`p1-b${number}`, { ...waiting, flow: 'b', weight: 2 });
    }
    const served: string[] = [];
    for (let open = 'p1-0'; served.length < 24; open = served.at(-1) ?? '') {
      driver.pass(100);
      served.push(...(await driver.settle(open)).notices.map(({ id }) => id));
    }
    const ofB = served.filter((id) => id.includes('b')).length;
    expect(ofB).toBeGreaterThanOrEqual(15);
    expect(ofB).toBeLessThanOrEqual(17);
  });

  it('has a small call of a flow wait behind a large one, and takes one of a flow that has had less', async () => {
    const driver = drive({ windows: [{ windowMs: 60_000, tokens: 1_000 }] });
    await driver.acquire('p1-1', { tokens: 600 });
    expect(await driver.acquire('p1-2', { tokens: 900, waitMs: 90_000 })).toMatchObject({ kind: 'waiting' });
    // No bypass: a large call would starve.
    expect(await driver.acquire('p1-3', { tokens: 100 })).toMatchObject({ kind: 'refused' });
    expect(await driver.acquire('p2-1', { tokens: 100, flow: 'b', waitMs: 100 })).toMatchObject({ kind: 'granted' });
    await driver.cancel('p1-2');
    expect(await driver.acquire('p1-4', { tokens: 100 })).toMatchObject({ kind: 'granted' });
  });

  it('queues nobody whose time would be over before its turn, and leaves nothing of who was refused', async () => {
    const driver = drive({ windows: [{ windowMs: 10_000, requests: 1, guardMs: 0 }] });
    await driver.acquire('p1-1');
    expect(await driver.acquire('p1-2', { waitMs: 9_000 })).toMatchObject({ kind: 'refused' });
    expect(await driver.acquire('p1-3', { waitMs: 11_000 })).toMatchObject({ kind: 'waiting' });
    expect(await driver.acquire('p1-4', { waitMs: 11_000 })).toMatchObject({ kind: 'refused' });
    expect(await driver.inspect()).toMatchObject({ queued: 1 });
  });

  it('hands a grant out ahead of its time, by the beat of the one process that pumps', async () => {
    const driver = drive({ windows: [{ windowMs: 60_000, requests: 1 }] });
    const first = await driver.acquire('p1-1');
    const { nowMs } = first;
    const waits = await driver.acquire('p2-1', { waitMs: 90_000, leaseMs: 90_000 });
    const other = await driver.acquire('p3-1', { waitMs: 200_000, flow: 'b' });
    expect(other.pumpInMs).toBeUndefined();
    driver.pass(waits.pumpInMs ?? 0);
    const { notices } = await driver.beat([], 'p2');
    expect(notices).toMatchObject([{ kind: 'granted', id: 'p2-1' }]);
    const atMs = notices[0]?.kind === 'granted' ? notices[0].atMs : 0;
    expect(atMs).toBeGreaterThanOrEqual(nowMs + 60_300);
    expect(atMs).toBeGreaterThan(bench.clock.us / 1_000);
  });

  it('has another process pump where the one that did is silent', async () => {
    const driver = drive({ concurrency: 1 });
    await driver.acquire('p1-1', { leaseMs: 60_000 });
    expect((await driver.acquire('p1-2', waiting)).pumpInMs).toBeGreaterThan(0);
    expect((await driver.beat([], 'p2')).pumpInMs).toBeUndefined();
    driver.pass(2_000);
    expect((await driver.beat([], 'p2')).pumpInMs).toBeGreaterThan(0);
    expect((await driver.beat([], 'p1')).pumpInMs).toBeUndefined();
  });

  it('lets go of waiters whose time is over, or for whom the limits became too small, and tells them', async () => {
    const driver = drive({ windows: [{ windowMs: 60_000, tokens: 1_000 }], concurrency: 1 });
    await driver.acquire('p1-1', { tokens: 100, leaseMs: 60_000 });
    await driver.acquire('p2-1', { waitMs: 3_000, tokens: 400 });
    await driver.acquire('p2-2', { waitMs: 60_000, tokens: 400, leaseMs: 60_000 });
    driver.pass(3_001);
    await driver.beat([], 'p1');
    expect(await driver.told()).toEqual([{ kind: 'lapsed', id: 'p2-1' }]);
    await driver.learn([{ windowMs: 60_000, tokens: 300 }], 60_000);
    expect(await driver.told()).toEqual([{ kind: 'lapsed', id: 'p2-2' }]);
    expect(await driver.inspect()).toMatchObject({ queued: 0, reserved: { tokens: 100 } });
  });

  it('asks nothing of the waiting where a scope has no limits but a pause', async () => {
    const driver = drive({});
    for (let number = 0; number < 20; number += 1) {
      expect(await driver.acquire(`p1-${number}`, { tokens: 1_000_000 })).toMatchObject({ kind: 'granted' });
    }
  });
}
