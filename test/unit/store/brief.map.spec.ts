import { describe, expect, it } from '@jest/globals';
import { BriefMap } from '../../../src/store/index.js';

const [one, two] = [{ number: 1 }, { number: 2 }];

describe('BriefMap', () => {
  it('holds values by their keys in the order in which they came', () => {
    const map = new BriefMap<string, { number: number }>();
    map.set('a', one);
    map.set('b', two);
    expect([map.size, map.get('a'), map.get('c'), [...map.values()]]).toEqual([2, one, undefined, [one, two]]);
    map.set('a', two);
    expect([map.size, map.get('a')]).toEqual([2, two]);
  });

  it('lets go of a value once, also while it is read', () => {
    const map = new BriefMap<number, { number: number }>();
    map.set(1, one);
    map.set(2, two);
    const seen: unknown[] = [];
    for (const value of map.values()) {
      seen.push(value);
      map.delete(2);
    }
    expect([seen, map.size, map.delete(2), map.delete(1), map.size]).toEqual([[one], 1, false, true, 0]);
  });
});
