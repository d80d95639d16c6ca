import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { ScopeLimits, TokenRule } from '../../src/admission/admission.rules.js';
import { type AdmissionBench, scopeOf, ScopeDriver } from '../support/admission-bench.js';

const MINUTE = 60_000;

/** Requests and tokens within sliding windows. */
export function describeWindows(start: () => Promise<AdmissionBench>): void {
  let bench: AdmissionBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const drive = (limits: ScopeLimits): ScopeDriver => new ScopeDriver(bench, scopeOf(limits));
  const tokensIn = async (driver: ScopeDriver): Promise<number | undefined> =>
    (await driver.inspect()).windows[0]?.tokens;

  it('admits as many requests as the limit says, then says which rule refuses and when there is room', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, requests: 2 }] });
    expect(await driver.acquire('p1-1')).toMatchObject({ kind: 'granted', atMs: bench.clock.us / 1_000 });
    driver.pass(10_000);
    await driver.acquire('p2-1');
    const refused = await driver.acquire('p1-2');
    const rule = { kind: 'requests', windowMs: MINUTE, limit: 2 };
    expect(refused).toMatchObject({ kind: 'refused', rule, isExact: true, usage: [{ requests: 2, requestLimit: 2 }] });
    const inMs = refused.kind === 'refused' ? refused.inMs : 0;
    expect(inMs).toBeGreaterThanOrEqual(50_300);
    driver.pass(inMs - 1);
    expect(await driver.acquire('p1-3')).toMatchObject({ kind: 'refused', inMs: 1 });
    driver.pass(1);
    expect(await driver.acquire('p1-3')).toMatchObject({ kind: 'granted' });
  });

  it('keeps a charge for the guard as well, in windows of any length', async () => {
    const driver = drive({ windows: [{ windowMs: 2_000, requests: 1, guardMs: 20 }] });
    await driver.acquire('p1-1');
    driver.pass(2_019);
    expect(await driver.acquire('p1-2')).toMatchObject({ kind: 'refused' });
    driver.pass(5);
    expect(await driver.acquire('p1-2')).toMatchObject({ kind: 'granted' });
  });

  it('keeps all windows of a list, and names the one that refuses', async () => {
    const driver = drive({
      windows: [
        { windowMs: MINUTE, requests: 3 },
        { windowMs: 1_000, requests: 2 },
      ],
    });
    for (const id of ['p1-1', 'p1-2']) expect(await driver.acquire(id)).toMatchObject({ kind: 'granted' });
    expect(await driver.acquire('p1-3')).toMatchObject({
      kind: 'refused',
      rule: { kind: 'requests', windowMs: 1_000 },
    });
    driver.pass(2_000);
    expect(await driver.acquire('p1-3')).toMatchObject({ kind: 'granted' });
    expect(await driver.acquire('p1-4')).toMatchObject({
      kind: 'refused',
      rule: { kind: 'requests', windowMs: MINUTE },
    });
  });

  it('reserves tokens before the call: five at once of half the limit each are two', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, tokens: 100 }] });
    const kinds = await Promise.all(
      ['p1-1', 'p2-1', 'p3-1', 'p1-2', 'p2-2'].map(async (id) => (await driver.acquire(id, { tokens: 50 })).kind),
    );
    expect(kinds.filter((kind) => kind === 'granted')).toHaveLength(2);
  });

  it('says never to a call that is larger than the limit', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, tokens: 100 }] });
    const rule = { kind: 'tokens', windowMs: MINUTE, limit: 100 };
    expect(await driver.acquire('p1-1', { tokens: 101, waitMs: MINUTE })).toMatchObject({
      kind: 'never',
      rule,
      inMs: 0,
    });
    expect(await driver.inspect()).toMatchObject({ open: 0, queued: 0 });
  });

  it.each<[TokenRule, string, readonly number[]]>([
    ['safe', 'the estimate for a window, the actual number from its end on', [300, 300, 100, 0]],
    ['adm', 'the estimate for a window', [300, 300, 0, 0]],
    ['cmp', 'the estimate while it lasts, then the actual number for a window', [300, 100, 100, 0]],
    ['own', 'the actual number from the start', [300, 100, 0, 0]],
  ])('counts tokens by the rule %s: %s', async (tokenRule, _, expected) => {
    const driver = drive({ windows: [{ windowMs: MINUTE, tokens: 1_000 }], tokenRule });
    await driver.acquire('p1-1', { tokens: 300, leaseMs: 2 * MINUTE });
    const seen = [await tokensIn(driver)];
    driver.pass(30_000);
    await driver.settle('p1-1', 100);
    seen.push(await tokensIn(driver));
    driver.pass(31_000);
    seen.push(await tokensIn(driver));
    driver.pass(31_000);
    seen.push(await tokensIn(driver));
    expect(seen).toEqual(expected);
  });

  it('counts a call that took more than it reserved in full', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, tokens: 1_000 }] });
    await driver.acquire('p1-1', { tokens: 300 });
    await driver.settle('p1-1', 900);
    expect(await tokensIn(driver)).toBe(900);
    expect(await driver.acquire('p1-2', { tokens: 101 })).toMatchObject({ kind: 'refused', rule: { kind: 'tokens' } });
  });

  it('never takes a request back that was sent, but one that was not in full', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, requests: 1, tokens: 500 }] });
    await driver.acquire('p1-1', { tokens: 500 });
    expect(await driver.cancel('p1-1')).toMatchObject({ kind: 'granted' });
    expect((await driver.inspect()).windows).toMatchObject([{ requests: 0, tokens: 0 }]);
    expect(await driver.acquire('p1-2', { tokens: 500 })).toMatchObject({ kind: 'granted' });
    await driver.settle('p1-2', 0);
    expect(await driver.acquire('p1-3')).toMatchObject({ kind: 'refused', rule: { kind: 'requests' } });
  });

  it('lets only a burst in at once where a pace is set, and then evenly', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, requests: 60, burst: 0.1 }] });
    const kinds: string[] = [];
    for (let number = 0; number < 9; number += 1) kinds.push((await driver.acquire(`p1-${number}`)).kind);
    expect(kinds.filter((kind) => kind === 'granted')).toHaveLength(7);
    expect(await driver.acquire('p1-10')).toMatchObject({ kind: 'refused', inMs: 1_000, rule: { kind: 'requests' } });
  });

  it('lets in at the pace of the limits where the state of a scope in use was lost', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, requests: 60 }] });
    expect(await driver.acquire('p1-1', { seen: true })).toMatchObject({ kind: 'granted' });
    expect(await driver.acquire('p1-2', { seen: true })).toMatchObject({ kind: 'refused', inMs: 1_000 });
  });

  it('lets all in at the pace of the limits until what a process let in by itself has left the window', async () => {
    const driver = drive({ windows: [{ windowMs: 60_000, requests: 60, guardMs: 0 }] });
    await driver.acquire('p1-0');
    driver.pass(70_000);
    // Twice, as after a lost answer.
    await driver.tellLocal(20_000);
    await driver.tellLocal(20_000);
    expect(await driver.acquire('p2-1')).toMatchObject({ kind: 'granted' });
    expect(await driver.acquire('p2-2')).toMatchObject({ kind: 'refused', inMs: 1_000, rule: { kind: 'requests' } });
    driver.pass(39_999);
    expect(await driver.acquire('p2-3')).toMatchObject({ kind: 'granted' });
    expect(await driver.acquire('p2-4')).toMatchObject({ kind: 'refused', rule: { kind: 'requests' } });
    driver.pass(1);
    for (const id of ['p2-4', 'p2-5', 'p2-6']) expect(await driver.acquire(id)).toMatchObject({ kind: 'granted' });
  });

  it('paces nobody for what has left the window already', async () => {
    const driver = drive({ windows: [{ windowMs: 1_000, requests: 3, guardMs: 0 }] });
    await driver.tellLocal(1_000);
    for (const id of ['p1-1', 'p1-2', 'p1-3']) expect(await driver.acquire(id)).toMatchObject({ kind: 'granted' });
  });

  it('goes by the smaller of its own and the learned limits, for as long as they were learned', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, requests: 100, tokens: 1_000 }] });
    await driver.learn(
      [
        { windowMs: MINUTE, requests: 1, tokens: 5_000 },
        { windowMs: 7, requests: 1 },
      ],
      5_000,
    );
    expect((await driver.inspect()).windows).toMatchObject([{ requestLimit: 1, tokenLimit: 1_000 }]);
    await driver.acquire('p1-1');
    expect(await driver.acquire('p1-2')).toMatchObject({ kind: 'refused', rule: { kind: 'requests', limit: 1 } });
    driver.pass(5_000);
    expect(await driver.acquire('p1-2')).toMatchObject({ kind: 'granted' });
    await driver.learn([{ windowMs: MINUTE, tokens: 10 }], 5_000);
    expect(await driver.acquire('p1-3', { tokens: 11 })).toMatchObject({ kind: 'refused', inMs: 5_000 });
  });

  it('lets nobody in while the upstream asked for a pause, then in order', async () => {
    const driver = drive({ windows: [{ windowMs: MINUTE, requests: 100 }] });
    await driver.hold(5_000);
    expect(await driver.acquire('p1-1')).toMatchObject({ kind: 'refused', inMs: 5_000, rule: { kind: 'hold' } });
    for (const id of ['p1-2', 'p2-2']) {
      expect(await driver.acquire(id, { waitMs: 6_000 })).toMatchObject({ kind: 'waiting', rule: { kind: 'hold' } });
    }
    expect(await driver.inspect()).toMatchObject({ heldForMs: 5_000, queued: 2 });
    driver.pass(5_000);
    const { notices } = await driver.beat(['p1-2']);
    expect([...notices, ...(await driver.told())].map(({ id }) => id)).toEqual(['p1-2', 'p2-2']);
  });

  it('goes on where time stood when the clock steps back, and lets nobody in too early', async () => {
    const driver = drive({ windows: [{ windowMs: 2_000, requests: 1, guardMs: 20 }] });
    await driver.acquire('p1-1');
    driver.pass(-3_600_000);
    const refused = await driver.acquire('p1-2');
    expect(refused).toMatchObject({ kind: 'refused' });
    driver.pass(refused.kind === 'refused' ? refused.inMs : 0);
    expect(await driver.acquire('p1-2')).toMatchObject({ kind: 'granted' });
  });

  it('forgets what a window held that is not among the limits any more, and comes back to nothing', async () => {
    const before = drive({ windows: [{ windowMs: MINUTE, tokens: 1_000 }] });
    const after = drive({ windows: [{ windowMs: 1_000, tokens: 500 }] });
    await before.acquire('p1-1', { tokens: 400 });
    expect(await after.settle('p1-1', 100)).toMatchObject({ kind: 'settled' });
    before.pass(200_000);
    expect(await after.inspect()).toMatchObject({ open: 0, windows: [{ requests: 0, tokens: 0 }] });
    expect(await before.inspect()).toMatchObject({ open: 0, windows: [{ requests: 0, tokens: 0 }] });
  });
}
