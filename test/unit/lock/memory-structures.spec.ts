import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EndingMap } from '../../../src/lock/memory/ending.map.js';
import { ScoreSet } from '../../../src/store/index.js';

const members = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const scores = fc.integer({ min: 0, max: 9 });

describe('ScoreSet', () => {
  it('is ordered by score, then by name, whatever was set and deleted', () => {
    const changes = fc.array(fc.tuple(members, fc.option(scores, { nil: undefined })), { maxLength: 60 });
    fc.assert(
      fc.property(changes, scores, (list, last) => {
        const set = new ScoreSet();
        const model = new Map<string, number>();
        for (const [member, score] of list) {
          if (score === undefined) expect(set.delete(member)).toBe(model.delete(member));
          else {
            set.set(member, score);
            model.set(member, score);
          }
        }
        set.deleteUpTo(last);
        const expected = [...model]
          .filter(([, score]) => score > last)
          .sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1))
          .map(([member, score]) => ({ member, score }));
        expect([...set]).toEqual(expected);
        expect([set.first, set.last, set.size]).toEqual([expected[0], expected.at(-1), expected.length]);
        for (const { member, score } of expected) expect(set.scoreOf(member)).toBe(score);
      }),
    );
  });
});

describe('EndingMap', () => {
  it('holds what has not ended, whatever was set anew and deleted', () => {
    const changes = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('set' as const), member: members, passed: scores }),
        fc.record({ kind: fc.constant('delete' as const), member: members, passed: scores }),
        fc.record({ kind: fc.constant('clear' as const), member: members, passed: scores }),
      ),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(changes, (list) => {
        const map = new EndingMap<{ readonly end: number }>((value) => value.end);
        const model = new Map<string, { readonly end: number }>();
        let time = 0;
        for (const { kind, member, passed } of list) {
          time += passed;
          const value = { end: time + 20 };
          if (kind === 'set') {
            map.set(member, value);
            model.set(member, value);
          } else if (kind === 'delete') {
            map.delete(member);
            model.delete(member);
          } else {
            map.clear(time, 100);
            for (const [key, { end }] of model) if (end <= time) model.delete(key);
          }
          expect(map.size).toBe(model.size);
          for (const [key, kept] of model) expect(map.get(key)).toBe(kept);
        }
      }),
    );
  });

  it('clears no more at once than it may', () => {
    const map = new EndingMap<number>((end) => end);
    for (let end = 1; end <= 10; end += 1) map.set(String(end), end);
    map.clear(9, 4);
    expect(map.size).toBe(6);
    map.clear(9, 100);
    expect(map.size).toBe(1);
  });
});
