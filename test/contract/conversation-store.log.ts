import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { readLog } from '../../src/conversation/store/index.js';
import { draft, end, message, PLACE, start, turn, type ConversationBench } from '../support/conversation-bench.js';

export function describeConversationLog(open: () => Promise<ConversationBench>): void {
  let bench: ConversationBench;
  beforeEach(async () => {
    bench = await open();
    await bench.store.create(PLACE, draft());
  });
  afterEach(() => bench.close());

  const seqs = async (): Promise<readonly number[]> => {
    const found: number[] = [];
    for await (const messages of readLog(bench.store, PLACE)) found.push(...messages.map(({ seq }) => seq));
    return found;
  };
  const cards = (model = 'm') => bench.store.cards(PLACE, { encoding: 'o200k', model });

  it('is read page by page, without gaps', async () => {
    for (let number = 1; number <= 5; number += 1) await turn(bench.store, `t${number}`, number);
    expect(await bench.store.messages(PLACE, { afterSeq: 0, limit: 4 })).toMatchObject({
      ...{ messages: [{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: 4 }], hasMore: true, pending: [] },
    });
    expect(await bench.store.messages(PLACE, { afterSeq: 8, limit: 4 })).toMatchObject({
      ...{ messages: [{ seq: 9 }, { seq: 10 }], hasMore: false },
    });
    expect(await bench.store.messages(PLACE, { afterSeq: 10, limit: 4 })).toMatchObject({
      messages: [],
      hasMore: false,
    });
    expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('is read in pages of about a megabyte, however many messages were asked for', async () => {
    const long = 'x'.repeat(600_000);
    for (let number = 1; number <= 3; number += 1) {
      await turn(bench.store, `t${number}`, number, { end: { messages: [message('assistant', long)] } });
    }
    expect(await bench.store.messages(PLACE, { afterSeq: 0, limit: 100 })).toMatchObject({
      ...{ messages: [{ seq: 1 }, { seq: 2 }, { seq: 3 }, { seq: 4 }], hasMore: true },
    });
    expect(await seqs()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('keeps texts as they were given, and parts, calls and answers', async () => {
    const texts = ['', 'a|b\n%', '\u0000', '🙂 <|endoftext|>'];
    for (const [at, text] of texts.entries()) {
      await turn(bench.store, `t${at}`, at + 1, { start: { messages: [message('user', text)] } });
    }
    const asked = message('user', '[{"type":"text"}]', { isJson: true });
    const call = message('assistant', '', { toolCalls: '[{"id":"a,b|c"}]', calls: ['a,b|c', ''] });
    const answers = [message('tool', 'A', { toolCallId: 'a,b|c' }), message('tool', 'B', { toolCallId: '' })] as const;
    const last = message('assistant', 'C');
    await turn(bench.store, 't9', 9, { start: { messages: [asked] }, end: { messages: [call, ...answers, last] } });
    const page = await bench.store.messages(PLACE, { afterSeq: 0, limit: 100 });
    expect(page?.messages.filter(({ role, seq }) => role === 'user' && seq < 9).map(({ content }) => content)).toEqual(
      texts,
    );
    expect(page?.messages.slice(8)).toMatchObject([
      { role: 'user', content: '[{"type":"text"}]', isJson: true },
      { role: 'assistant', content: '', toolCalls: '[{"id":"a,b|c"}]' },
      { role: 'tool', toolCallId: 'a,b|c' },
      { role: 'tool', toolCallId: '' },
      { role: 'assistant', turnId: 'turn_t9_9' },
    ]);
    expect((await cards())?.cards.slice(8)).toMatchObject([
      { role: 'user', hasContent: true, calls: [] },
      { role: 'assistant', hasContent: false, calls: ['a,b|c', ''] },
      { role: 'tool', answers: 'a,b|c' },
      { role: 'tool', answers: '' },
      { role: 'assistant', calls: [] },
    ]);
  });

  it('is planned from counts beside it, which can be added later for another encoding', async () => {
    const tokens = [{ encoding: 'o200k', tokens: 12, callTokens: 3 } as const];
    const messages = [message('assistant', 'x', { tokens })] as const;
    await turn(bench.store, 't1', 1, { end: { messages } });
    expect((await cards())?.cards).toMatchObject([
      { seq: 1, tokens: -1, callTokens: 0 },
      { seq: 2, tokens: 12, callTokens: 3 },
    ]);
    const counts = [1, 2, 3, 0, -1].map((seq) => ({ seq, tokens: 40 + seq, callTokens: 0 }));
    await bench.store.saveTokens(PLACE, 'o200k', counts);
    await bench.store.saveTokens(PLACE, 'claude', counts);
    expect((await cards())?.cards).toMatchObject([
      { tokens: 41, callTokens: 0 },
      { tokens: 12, callTokens: 3 },
    ]);
    const claude = await bench.store.cards(PLACE, { encoding: 'claude', model: 'm' });
    expect(claude?.cards).toMatchObject([{ tokens: 41 }, { tokens: 42 }]);
  });

  it('is planned from where the last window of the same model began', async () => {
    for (let number = 1; number <= 3; number += 1) await turn(bench.store, `t${number}`, number);
    const head = { seq: 5, model: 'm|1' };
    await turn(bench.store, 't4', 4, { end: { head } });
    const list = await cards('m|1');
    expect(list?.conversation).toMatchObject({ head, seq: 8 });
    expect(list?.cards.map(({ seq }) => seq)).toEqual([5, 6, 7, 8]);
    expect((await cards('m'))?.cards).toHaveLength(8);
    await turn(bench.store, 't5', 5, { end: { head: 'as-before' } });
    expect((await cards('m|1'))?.cards).toHaveLength(6);
    await turn(bench.store, 't6', 6, { end: { head: undefined } });
    expect((await cards('m|1'))?.cards).toHaveLength(12);
  });

  it('shows an answer that was given again as superseded, and leaves it out of the cards', async () => {
    await turn(bench.store, 't1', 1);
    const old = await turn(bench.store, 't2', 2);
    const started = await bench.store.startTurn(PLACE, start('t3', 3, { replaces: old }));
    expect(started).toMatchObject({ kind: 'started', turn: { supersedesFrom: 3 } });
    expect((await cards())?.superseded).toEqual([]);
    await bench.store.endTurn(PLACE, 'turn_t3_5', end(3));
    expect((await cards())?.cards.map(({ seq }) => seq)).toEqual([1, 2, 5, 6]);
    expect((await cards())?.superseded).toEqual([3, 4]);
    const page = await bench.store.messages(PLACE, { afterSeq: 0, limit: 9 });
    expect(page?.messages.map(({ isSuperseded }) => isSuperseded)).toEqual([false, false, true, true, false, false]);
    expect(await bench.store.findTurn(PLACE, old)).toMatchObject({
      messages: [{ isSuperseded: true }, { isSuperseded: true }],
    });
    expect(await bench.store.lastTurn(PLACE)).toMatchObject({ id: 'turn_t3_5', supersedesFrom: 3 });
  });

  it('lets nobody replace a turn that is not the last one', async () => {
    const old = await turn(bench.store, 't1', 1);
    await turn(bench.store, 't2', 2);
    expect(await bench.store.startTurn(PLACE, start('t3', 3, { replaces: old }))).toEqual({ kind: 'changed' });
  });

  it('keeps an answer where the new one failed, until one does not', async () => {
    const old = await turn(bench.store, 't1', 1);
    const failed = await turn(bench.store, 't2', 2, { start: { replaces: old }, end: { status: 'failed' } });
    expect((await cards())?.superseded).toEqual([]);
    await turn(bench.store, 't3', 3, { start: { replaces: failed } });
    expect((await cards())?.superseded).toEqual([1, 2, 3, 4]);
    const again = await bench.store.lastTurn(PLACE);
    expect(again).toMatchObject({ id: 'turn_t3_5', supersedesFrom: 1 });
    await turn(bench.store, 't4', 4, { start: { replaces: again?.id } });
    expect((await cards())?.cards.map(({ seq }) => seq)).toEqual([7, 8]);
    await turn(bench.store, 't5', 5);
    expect((await cards())?.superseded).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('is cleared, and goes on with the next seq; the system prompt stays', async () => {
    await bench.store.change(PLACE, { system: 'S' });
    const old = await turn(bench.store, 't1', 1, { end: { head: { seq: 1, model: 'm' } } });
    expect(await bench.store.clear(PLACE, 2)).toMatchObject({
      system: 'S',
      seq: 2,
      firstSeq: 3,
      version: 3,
      head: undefined,
    });
    expect(await bench.store.findTurn(PLACE, old)).toBeUndefined();
    expect(await bench.store.lastTurn(PLACE)).toBeUndefined();
    expect(await bench.store.messages(PLACE, { afterSeq: 0, limit: 9 })).toEqual({
      messages: [],
      hasMore: false,
      pending: [],
    });
    expect(await bench.store.startTurn(PLACE, start('t9', 3, { replaces: old }))).toEqual({ kind: 'changed' });
    expect(await turn(bench.store, 't2', 3)).toBe('turn_t2_3');
    expect(await seqs()).toEqual([3, 4]);
    expect((await cards())?.cards.map(({ seq }) => seq)).toEqual([3, 4]);
    expect(await bench.store.messages(PLACE, { afterSeq: 1, limit: 1 })).toMatchObject({
      messages: [{ seq: 3 }],
      hasMore: true,
    });
  });

  it('is not cleared under a turn that runs, unless its holder is gone', async () => {
    await bench.store.startTurn(PLACE, start('t1', 5));
    await bench.store.events(PLACE, 'turn_t1_1', { afterId: 0, limit: 9, process: 'p2' });
    expect(await bench.store.clear(PLACE, 5)).toBe('busy');
    expect(await bench.store.clear(PLACE, 6)).toMatchObject({ seq: 0, activeTurn: undefined });
    expect(await bench.heard()).toEqual([['p2', { kind: 'ended', turnId: 'turn_t1_1' }]]);
    expect(await bench.store.endTurn(PLACE, 'turn_t1_1', end(5))).toEqual({ kind: 'fenced' });
    expect(await seqs()).toEqual([]);
  });
}
