import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { latencyTopic } from '../../src/ai/fleet/topics/latency.topic.js';
import { parkingTopic } from '../../src/ai/fleet/topics/parking.topic.js';
import { ratioTopic } from '../../src/ai/fleet/topics/ratio.topic.js';
import { usageTopic } from '../../src/ai/fleet/topics/usage.topic.js';
import { windowTopic } from '../../src/ai/fleet/topics/window.topic.js';
import { type FleetBench, START_MS, tell } from '../support/fleet-bench.js';
import { describeStandings } from './fleet-store.standings.js';

/** What every FleetStore does, in a time that the test sets. */
export function describeFleetStore(name: string, start: () => Promise<FleetBench>): void {
  describe(`${name}, cells`, () => {
    describeCells(start);
  });
  describe(`${name}, standings`, () => {
    describeStandings(start);
  });
  describe(`${name}, keys`, () => {
    describeKeys(start);
  });
  describe(`${name}, rate limits`, () => {
    describeWindows(start);
  });
  describe(`${name}, histories`, () => {
    describeHistories(start);
  });
}

function describeCells(start: () => Promise<FleetBench>): void {
  let bench: FleetBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const read = async (seen: number) => bench.store.exchange(ratioTopic, 'p2', [{ id: 'm', seen, changes: [] }]);

  it('are nothing at first, and cost one word to who knows that', async () => {
    expect(await read(0)).toEqual({ now: START_MS, cells: [undefined] });
  });

  it('are answered to who does not know them yet, and to nobody else', async () => {
    await tell(bench, ratioTopic, 'm', [2_000_000]);
    const { cells } = await read(0);
    expect(cells).toEqual([{ revision: bench.clock.us, endsAt: START_MS + 604_800_000, body: 1_125_000 }]);
    expect((await read(cells[0]?.revision ?? 0)).cells).toEqual([undefined]);
  });

  it('rise in revision with every change, also at one instant', async () => {
    await tell(bench, ratioTopic, 'm', [2_000_000]);
    await tell(bench, ratioTopic, 'm', [2_000_000]);
    expect((await read(0)).cells).toMatchObject([{ revision: bench.clock.us + 1 }]);
  });

  it('of one exchange are apart, and by the order of the requests', async () => {
    const { cells } = await bench.store.exchange(ratioTopic, 'p1', [
      { id: 'a', seen: 0, changes: [{ change: 3_000_000, agoMs: 0 }] },
      { id: 'b', seen: 0, changes: [] },
      { id: '{c}:|%', seen: 0, changes: [{ change: 500_000, agoMs: 0 }] },
    ]);
    expect(cells.map((cell) => cell?.body)).toEqual([1_250_000, undefined, 992_187]);
  });

  it('are over at their end, and say so to who knew them', async () => {
    await tell(bench, ratioTopic, 'm', [2_000_000]);
    const [cell] = (await read(0)).cells;
    bench.clock.us += 604_800_000_000 - 1_000;
    expect((await read(cell?.revision ?? 0)).cells).toEqual([undefined]);
    bench.clock.us += 1_000;
    expect((await read(cell?.revision ?? 0)).cells).toEqual([{ revision: 0, endsAt: 0, body: undefined }]);
  });

  it('are forgotten where another clock has written them in the future', async () => {
    await tell(bench, ratioTopic, 'm', [2_000_000]);
    bench.clock.us -= 1_000_000;
    expect((await read(0)).cells).toMatchObject([{ body: 1_125_000 }]);
    bench.clock.us -= 1;
    expect((await read(0)).cells).toEqual([undefined]);
  });
}

function describeKeys(start: () => Promise<FleetBench>): void {
  let bench: FleetBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  it('are parked and unparked by the latest word, whichever comes last', async () => {
    expect(await tell(bench, parkingTopic, 'k', [{ reason: 'quota', forMs: 60_000 }])).toEqual({
      reason: 'quota',
      until: START_MS + 60_000,
      saidAt: START_MS,
    });
    bench.clock.us += 5_000_000;
    await tell(bench, parkingTopic, 'k', [{ reason: 'refused', forMs: 0 }]);
    const late = await tell(bench, parkingTopic, { id: 'k', agoMs: 1 }, [{ reason: 'quota', forMs: 60_000 }]);
    expect(late?.until).toBe(START_MS + 5_000);
    expect(await bench.heard()).toEqual([
      { topic: 'parking', from: 'p1' },
      { topic: 'parking', from: 'p1' },
    ]);
  });

  it('are worth what the last check said, less what was spent since', async () => {
    await tell(bench, usageTopic, 'k', [{ kind: 'checked', tier: 'pro', unit: 'requests', left: 50 }]);
    const worth = await tell(bench, usageTopic, 'k', [
      { kind: 'spent', unit: 'requests', amount: 8 },
      { kind: 'spent', unit: 'tokens', amount: 1_000 },
    ]);
    expect(worth).toMatchObject({ tier: 'pro', left: 42, most: 50, isStale: false });
    expect(await tell(bench, usageTopic, 'k', [{ kind: 'spent', unit: 'requests', amount: 99 }])).toMatchObject({
      left: 0,
    });
  });

  it('keep their last word, marked stale, when a check fails, and are taken for free ones before the first', async () => {
    expect(await tell(bench, usageTopic, 'new', [{ kind: 'unreachable' }])).toMatchObject({
      tier: 'free',
      unit: 'requests',
      left: 1_000,
      isStale: true,
    });
    await tell(bench, usageTopic, 'k', [{ kind: 'checked', tier: 'enterprise', unit: 'usd', left: 5_000_000 }]);
    bench.clock.us += 1_000_000;
    const known = { tier: 'enterprise', unit: 'usd', left: 5_000_000 };
    expect(await tell(bench, usageTopic, 'k', [{ kind: 'unreachable' }])).toMatchObject({ ...known, isStale: true });
    const late = [{ kind: 'checked', tier: 'free', unit: 'usd', left: 1 } as const];
    expect(await tell(bench, usageTopic, { id: 'k', agoMs: 500 }, late)).toMatchObject({ ...known, isStale: true });
  });
}

function describeWindows(start: () => Promise<FleetBench>): void {
  let bench: FleetBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const told = (remaining: number, resetInMs: number, agoMs = 0) =>
    tell(bench, windowTopic, { id: 'd', agoMs }, [{ unit: 'requests', limit: 100, remaining, resetInMs }]);

  it('are the smallest remainder of one moment, in whatever order it was told', async () => {
    await told(7, 60_000);
    expect(await told(9, 59_900)).toMatchObject({ requests: { remaining: 7 } });
    expect(await told(6, 60_000)).toMatchObject({ requests: { remaining: 6 } });
    expect(await told(3, 60_100, 900)).toMatchObject({ requests: { remaining: 3 } });
  });

  it('are what was said later: a bucket fills up without a reset', async () => {
    await told(0, 60_000);
    bench.clock.us += 30_000_000;
    expect(await told(29, 31_000)).toMatchObject({ requests: { remaining: 29 } });
    expect(await told(5, 61_000, 29_000)).toMatchObject({ requests: { remaining: 29 } });
  });

  it('are those of the newest window', async () => {
    await told(2, 400);
    bench.clock.us += 450_000;
    expect(await told(99, 60_000)).toMatchObject({ requests: { remaining: 99 } });
    expect(await told(1, 10, 100)).toMatchObject({ requests: { remaining: 99 } });
  });

  it('are apart by unit, and forgotten three minutes after the last of them was told', async () => {
    await told(2, 400);
    const both = await tell(bench, windowTopic, 'd', [{ unit: 'tokens', limit: 0, remaining: 10, resetInMs: 900 }]);
    expect(both).toMatchObject({ requests: { remaining: 2 }, tokens: { remaining: 10, resetAt: START_MS + 900 } });
    bench.clock.us += 179_999_000;
    expect(await tell(bench, windowTopic, 'd', [])).toEqual(both);
    bench.clock.us += 1_000;
    expect(await tell(bench, windowTopic, 'd', [])).toBeUndefined();
    await told(2, 400_000);
    bench.clock.us += 399_999_000;
    expect(await tell(bench, windowTopic, 'd', [])).toBeDefined();
  });
}

function describeHistories(start: () => Promise<FleetBench>): void {
  let bench: FleetBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  it('hold the last hundred samples of all, oldest first', async () => {
    const samples = Array.from({ length: 70 }, (_, index) => ({
      ms: index + 1,
      tokens: 0,
      isCensored: index % 7 === 0,
    }));
    await tell(bench, latencyTopic, { id: 'stream/m', from: 'p1' }, samples);
    const body = await tell(bench, latencyTopic, { id: 'stream/m', from: 'p2' }, samples);
    expect(body).toEqual([...samples.slice(40), ...samples]);
    expect(await bench.heard()).toEqual([]);
  });

  it('are kept for a day after the last sample, also where all are alike', async () => {
    const sample = { ms: 5, tokens: 9, isCensored: false };
    await tell(
      bench,
      latencyTopic,
      'json/m',
      Array.from({ length: 100 }, () => sample),
    );
    bench.clock.us += 86_399_000_000;
    await tell(bench, latencyTopic, 'json/m', [sample]);
    bench.clock.us += 86_399_000_000;
    expect(await tell(bench, latencyTopic, 'json/m', [])).toHaveLength(100);
  });

  it('of token counts go up fast and down slowly, and stay within their bounds', async () => {
    expect(await tell(bench, ratioTopic, 'm', [1_800_000])).toBe(1_100_000);
    expect(await tell(bench, ratioTopic, 'm', [1_000_000])).toBe(1_098_437);
    expect(await tell(bench, ratioTopic, 'm', Array<number>(500).fill(9_000_000))).toBe(3_000_000);
    expect(await tell(bench, ratioTopic, 'm', Array<number>(5_000).fill(1))).toBe(500_000);
  });
}
