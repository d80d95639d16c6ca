import { describe, expect, it } from '@jest/globals';
import { LoopTurns } from '../../../src/ai/call/loop.turns.js';
import { grouped } from '../../support/grouped.js';

const CALLS = 50;
const AT_ONCE = 4;

describe('LoopTurns', () => {
  it('lets a few go on in each turn of the event loop, in the order in which they came', async () => {
    const turns = new LoopTurns();
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const went: { readonly call: number; readonly turn: number }[] = [];
    await Promise.all(
      Array.from({ length: CALLS }, async (_, call) => {
        await turns.next();
        went.push({ call, turn });
      }),
    );
    isOver = true;
    expect(went.map(({ call }) => call)).toEqual(Array.from({ length: CALLS }, (_, call) => call));
    const inTurns = grouped(went, (one) => one.turn);
    expect(Math.max(...[...inTurns.values()].map((group) => group.length))).toBe(AT_ONCE);
    expect(inTurns.size).toBe(Math.ceil(CALLS / AT_ONCE));
  });

  it('begins again after a pause', async () => {
    const turns = new LoopTurns();
    await turns.next();
    await Promise.all([turns.next(), turns.next()]);
    await expect(turns.next()).resolves.toBeUndefined();
  });
});
