import { beforeEach, describe, expect, it } from '@jest/globals';
import { latencyTopic } from '../../../../src/ai/fleet/topics/latency.topic.js';
import { parkingTopic } from '../../../../src/ai/fleet/topics/parking.topic.js';
import { usageTopic } from '../../../../src/ai/fleet/topics/usage.topic.js';
import { CellView } from '../../../../src/ai/fleet/view/cell.view.js';

const sample = (ms: number) => ({ ms, tokens: 0, isCensored: false });
const changesOf = ({ changes }: ReturnType<CellView<unknown, { ms: number }>['request']>): number[] =>
  changes.map(({ change }) => change.ms);

describe('CellView', () => {
  let view: CellView<readonly ReturnType<typeof sample>[], ReturnType<typeof sample>>;
  beforeEach(() => {
    view = new CellView('stream/m', latencyTopic);
  });
  const seen = (): number[] => (view.read(1_000) ?? []).map(({ ms }) => ms);

  it('shows what the store said, and on top of it what the store has not confirmed yet', () => {
    view.note(sample(1), 100);
    expect(view.request(200)).toEqual({ id: 'stream/m', seen: 0, changes: [{ change: sample(1), agoMs: 100 }] });
    view.note(sample(2), 300);
    expect(seen()).toEqual([1, 2]);
    view.confirm({ revision: 7, endsAt: 5_000, body: [sample(9), sample(1)] }, 400);
    expect(seen()).toEqual([9, 1, 2]);
    expect(view.request(300)).toEqual({ id: 'stream/m', seen: 7, changes: [{ change: sample(2), agoMs: 0 }] });
    view.confirm(undefined, 500);
    expect(seen()).toEqual([9, 1]);
    expect(view.isPending).toBe(false);
  });

  it('sends again what was not answered, before what came meanwhile', () => {
    view.note(sample(1), 100);
    view.request(200);
    view.note(sample(2), 300);
    view.takeBack();
    expect(seen()).toEqual([1, 2]);
    expect(changesOf(view.request(400))).toEqual([1, 2]);
  });

  it('keeps the newest for a store that is away, and no more than that', () => {
    for (let ms = 1; ms <= 500; ms += 1) {
      view.note(sample(ms), ms);
      if (ms % 50 === 0) {
        view.request(ms);
        view.takeBack();
      }
    }
    const newest = Array.from({ length: 100 }, (_, index) => 401 + index);
    expect(seen()).toEqual(newest);
    expect(changesOf(view.request(600))).toEqual(newest);
  });

  it('shows nothing that is over', () => {
    view.confirm({ revision: 7, endsAt: 1_000, body: [sample(1)] }, 400);
    expect(view.read(999)).toHaveLength(1);
    expect(view.read(1_000)).toBeUndefined();
    view.note(sample(2), 1_000);
    expect(view.read(1_001)).toEqual([sample(2)]);
  });

  it('makes one change of many where one says it all', () => {
    const usage = new CellView('k', usageTopic);
    usage.note({ kind: 'checked', tier: 'pro', unit: 'tokens', left: 100 }, 1);
    for (let call = 0; call < 50; call += 1) usage.note({ kind: 'spent', unit: 'tokens', amount: 2 }, 2);
    expect(usage.request(2).changes.map(({ change }) => change)).toEqual([
      { kind: 'checked', tier: 'pro', unit: 'tokens', left: 100 },
      { kind: 'spent', unit: 'tokens', amount: 100 },
    ]);
  });

  it('sends what it sees no difference in only where that is insisted on', () => {
    const parking = new CellView('k', parkingTopic);
    expect(parking.note({ reason: 'quota', forMs: 0 }, 1)).toBe(false);
    expect(parking.isPending).toBe(false);
    parking.insist({ reason: 'quota', forMs: 0 }, 1);
    expect(parking.isPending).toBe(true);
  });
});
