import { describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnEnd } from '../../../src/store/turn.end.js';

describe('TurnEnd', () => {
  it('does at the end of the turn what was asked for in it, also by the others, and the last behind it', async () => {
    const turn = new TurnEnd();
    const done: string[] = [];
    turn.lastly(() => done.push('write'));
    turn.then(() => {
      done.push('one');
      turn.then(() => done.push('three'));
    });
    turn.then(() => done.push('two'));
    expect(done).toEqual([]);
    await nextTurn();
    expect(done).toEqual(['one', 'two', 'three', 'write']);
  });

  it('does it once, and again what is asked for later', async () => {
    const turn = new TurnEnd();
    const done: string[] = [];
    turn.lastly(() => {
      done.push('write');
      turn.then(() => done.push('next'));
    });
    await nextTurn();
    await nextTurn();
    expect(done).toEqual(['write', 'next']);
  });
});
