import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ANSWER_LIMITS as LIMITS,
  type EnterAnswer,
  type FinishCommand,
} from '../../src/ai/reuse/store/answer.store.js';
import type { AnswerBench } from '../support/answer-bench.js';

const KEEP_MS = 60_000;
const ROOM = 100_000;

/** What every AnswerStore does, in a time that the test sets. */
export function describeAnswerStore(name: string, start: () => Promise<AnswerBench>): void {
  let bench: AnswerBench;

  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  const pass = (ms: number): void => {
    bench.clock.us += ms * 1_000;
  };
  const place = (token: string, flight = 'f') => ({ shelf: 's', flight, token });
  const enter = (token: string, more: object = {}): Promise<EnterAnswer> =>
    bench.store.enter({ ...place(token), answers: ['a'], purpose: 'x', process: `p${token.slice(-1)}`, ...more });
  const look = (token: string, process: string) => bench.store.look({ ...place(token), process });
  const beat = async (token: string) => (await bench.store.beat({ shelf: 's', flights: [place(token)] }))[0];
  const finish = (token: string, text: string, more: Partial<FinishCommand> = {}): Promise<void> =>
    bench.store.finish({ ...place(token), purpose: 'x', text, ...more });
  const keep = (answer: string, text: string, { forMs = KEEP_MS, shelfBytes = ROOM } = {}): Promise<void> =>
    bench.store.finish({ ...place('t0', 'other'), purpose: 'x', text, keep: { answer, forMs, shelfBytes } });

  describe(`${name}, answers`, () => {
    it('are given as they were handed in, whatever they hold', async () => {
      for (const text of ['', '|', 'a|b\n{"ü":"😀"}\u0000', '#']) {
        await keep('a', text);
        expect(await enter('t1')).toEqual({ kind: 'kept', text });
      }
    });

    it('are over at their end, to the millisecond', async () => {
      await keep('a', 'text');
      pass(KEEP_MS - 1);
      expect(await enter('t1')).toEqual({ kind: 'kept', text: 'text' });
      pass(1);
      expect(await enter('t1')).toEqual({ kind: 'leads' });
    });

    it('are looked for in the order of their names', async () => {
      await keep('b', 'second');
      expect(await enter('t1', { answers: ['a', 'b'] })).toEqual({ kind: 'kept', text: 'second' });
      await keep('a', 'first');
      expect(await enter('t1', { answers: ['a', 'b'] })).toEqual({ kind: 'kept', text: 'first' });
      expect(await enter('t1', { answers: [] })).toEqual({ kind: 'leads' });
    });

    it('take the place of older ones of the same name', async () => {
      await keep('a', 'old', { forMs: 1_000 });
      await keep('a', 'new');
      pass(1_000);
      expect(await enter('t1')).toEqual({ kind: 'kept', text: 'new' });
    });

    it('are for one purpose', async () => {
      await keep('a', 'text');
      expect(await enter('t1', { purpose: 'y' })).toEqual({ kind: 'mismatch' });
    });

    it('of two shelves have nothing in common', async () => {
      await keep('a', 'text');
      expect(await enter('t1', { shelf: 'r' })).toEqual({ kind: 'leads' });
    });

    it('can be looked for without a flight', async () => {
      expect(await enter('', { token: '' })).toEqual({ kind: 'nothing' });
      expect(await enter('t1')).toEqual({ kind: 'leads' });
    });

    it('make room by their ends, the first one first, and never exceed it', async () => {
      const text = 'x'.repeat(100 - 'x|'.length);
      const shelfBytes = 3 * (100 + LIMITS.overheadBytes);
      await keep('late', text, { shelfBytes, forMs: 3_000 });
      await keep('soon', text, { shelfBytes, forMs: 1_000 });
      await keep('later', text, { shelfBytes, forMs: 2_000 });
      await keep('next', text, { shelfBytes, forMs: 4_000 });
      const kinds = async () =>
        Promise.all(
          ['soon', 'later', 'late', 'next'].map(async (each) => (await enter('', { token: '', answers: [each] })).kind),
        );
      expect(await kinds()).toEqual(['nothing', 'kept', 'kept', 'kept']);
      await keep('next', `${text}y`, { shelfBytes, forMs: 4_000 });
      expect(await kinds()).toEqual(['nothing', 'nothing', 'kept', 'kept']);
    });

    it('that fit nowhere are not kept, and push nobody out but their own kind', async () => {
      await keep('b', 'small');
      await keep('a', 'small');
      await keep('a', 'x'.repeat(ROOM));
      expect(await enter('', { token: '', answers: ['a'] })).toEqual({ kind: 'nothing' });
      expect(await enter('', { token: '', answers: ['b'] })).toEqual({ kind: 'kept', text: 'small' });
    });

    it('clear away what is over when others come', async () => {
      const shelfBytes = 2 * (10 + LIMITS.overheadBytes);
      await keep('a', 'x'.repeat(8), { shelfBytes, forMs: 1_000 });
      await keep('b', 'x'.repeat(8), { shelfBytes, forMs: 5_000 });
      pass(1_000);
      await keep('c', 'x'.repeat(8), { shelfBytes, forMs: 1_000 });
      expect((await enter('', { token: '', answers: ['b'] })).kind).toBe('kept');
      expect((await enter('', { token: '', answers: ['c'] })).kind).toBe('kept');
    });
  });

  describe(`${name}, flights`, () => {
    it('are led by the first and followed by all others, until they end', async () => {
      expect(await enter('t1')).toEqual({ kind: 'leads' });
      expect(await enter('t2')).toEqual({ kind: 'follows', token: 't1' });
      expect(await enter('t3')).toEqual({ kind: 'follows', token: 't1' });
      expect(await look('t1', 'p2')).toEqual({ kind: 'running' });
      expect(await beat('t1')).toBe(2);
      await finish('t1', 'text');
      expect(await bench.heard()).toEqual(['p2 t1', 'p3 t1']);
      expect(await look('t1', 'p2')).toEqual({ kind: 'over', text: 'text' });
      expect(await enter('t2')).toEqual({ kind: 'leads' });
    });

    it('are the leader’s also where he asks twice', async () => {
      await enter('t1');
      expect(await enter('t1')).toEqual({ kind: 'leads' });
    });

    it('tell their end for a while only, and nothing where there is nothing to tell', async () => {
      await enter('t1');
      await enter('t2');
      await finish('t1', 'text');
      pass(LIMITS.tellMs - 1);
      expect(await look('t1', 'p2')).toEqual({ kind: 'over', text: 'text' });
      pass(1);
      expect(await look('t1', 'p2')).toEqual({ kind: 'gone' });
      await enter('t4');
      await enter('t2');
      await bench.heard();
      await finish('t4', '');
      expect(await bench.heard()).toEqual(['p2 t4']);
      expect(await look('t4', 'p2')).toEqual({ kind: 'gone' });
    });

    it('tell nobody where nobody waits', async () => {
      await enter('t1');
      await finish('t1', 'text');
      expect(await look('t1', 'p2')).toEqual({ kind: 'gone' });
      expect(await bench.heard()).toEqual([]);
    });

    it('of a dead leader are free for the next one when his lease is over', async () => {
      await enter('t1');
      await enter('t2');
      pass(LIMITS.leaseMs - 1);
      expect(await look('t1', 'p2')).toEqual({ kind: 'running' });
      expect(await enter('t2')).toEqual({ kind: 'follows', token: 't1' });
      pass(1);
      expect(await look('t1', 'p2')).toEqual({ kind: 'gone' });
      expect(await enter('t2')).toEqual({ kind: 'leads' });
      expect(await enter('t3')).toEqual({ kind: 'follows', token: 't2' });
      expect(await beat('t1')).toBeUndefined();
      expect(await beat('t2')).toBe(1);
    });

    it('live on by the signs of life of their leader', async () => {
      await enter('t1');
      for (let beats = 0; beats < 5; beats += 1) {
        pass(LIMITS.leaseMs - 1);
        expect(await beat('t1')).toBe(0);
      }
      expect(await enter('t2')).toEqual({ kind: 'follows', token: 't1' });
    });

    it('of a leader who comes back too late are not ended by him, but his answer is kept', async () => {
      await enter('t1');
      pass(LIMITS.leaseMs);
      await enter('t2');
      await enter('t3');
      await finish('t1', 'late', { keep: { answer: 'a', forMs: KEEP_MS, shelfBytes: ROOM } });
      expect(await bench.heard()).toEqual([]);
      expect(await look('t2', 'p3')).toEqual({ kind: 'running' });
      expect(await enter('t1')).toEqual({ kind: 'kept', text: 'late' });
    });

    it('know who waits still: a process that looks no longer, or leaves, does not', async () => {
      await enter('t1');
      await enter('t2');
      await enter('t3');
      pass(LIMITS.interestMs - 1);
      await look('t1', 'p2');
      pass(1);
      expect(await beat('t1')).toBe(1);
      await bench.store.leave({ ...place('t1'), process: 'p2' });
      expect(await beat('t1')).toBe(0);
      await bench.store.leave({ ...place('t9'), process: 'p2' });
      await finish('t1', 'text');
      expect(await bench.heard()).toEqual([]);
    });

    it('are for one purpose', async () => {
      await enter('t1');
      expect(await enter('t2', { purpose: 'y' })).toEqual({ kind: 'mismatch' });
    });

    it('of one shelf are kept alive together', async () => {
      await enter('t1');
      await enter('t2', { flight: 'g' });
      const flights = [place('t1'), place('t9', 'g'), place('t2', 'g'), place('t1', 'none')];
      expect(await bench.store.beat({ shelf: 's', flights })).toEqual([0, undefined, 0, undefined]);
    });

    it('are not told to who has stopped to listen', async () => {
      await enter('t1');
      await enter('t2');
      await bench.store.unsubscribe('p2');
      await finish('t1', 'text');
      expect(await bench.heard()).toEqual([]);
      expect(await look('t1', 'p2')).toEqual({ kind: 'over', text: 'text' });
    });
  });
}
