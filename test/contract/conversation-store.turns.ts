import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Message } from '../../src/conversation/store/index.js';
import {
  draft,
  end,
  KEEP_MS,
  message,
  PLACE,
  start,
  START_MS,
  turn,
  type ConversationBench,
} from '../support/conversation-bench.js';

const KEY = { hash: 'key-1', bodyHash: 'body-1', keepMs: KEEP_MS };

export function describeConversationTurns(open: () => Promise<ConversationBench>): void {
  let bench: ConversationBench;
  beforeEach(async () => {
    bench = await open();
    await bench.store.create(PLACE, draft());
  });
  afterEach(() => bench.close());

  const shown = async (): Promise<readonly Message[]> => {
    const page = await bench.store.messages(PLACE, { afterSeq: 0, limit: 100 });
    return [...(page?.messages ?? []), ...(page?.pending ?? [])];
  };

  it('acknowledge a message in a record of their own, and append it with the reply at their end', async () => {
    const started = await bench.store.startTurn(PLACE, start('t1', 5, { request: '{"max_tokens":9}' }));
    const user = {
      ...{ id: 'msg_t1_1', seq: 1, role: 'user', content: 'ask t1', isJson: false, status: 'pending' },
      ...{ isSuperseded: false, turnId: 'turn_t1_1', createdAt: START_MS, model: undefined, usage: undefined },
      ...{ finishReason: undefined, toolCalls: undefined, toolCallId: undefined },
    };
    const running = {
      ...{ id: 'turn_t1_1', status: 'running', model: 'gpt-4.1', request: '{"max_tokens":9}', startedAt: START_MS },
      ...{ endedAt: undefined, isCancelled: false, supersedesFrom: undefined, messages: [user] },
      ...{ window: undefined, error: undefined },
    };
    expect(started).toMatchObject({ kind: 'started', conversation: { seq: 0, activeTurn: 'turn_t1_1' } });
    expect(started).toHaveProperty('turn', running);
    expect(await bench.store.messages(PLACE, { afterSeq: 0, limit: 9 })).toEqual({
      ...{ messages: [], hasMore: false, pending: [user] },
    });
    bench.clock.us += 2_000_000;
    const reply = message('assistant', 'hello', {
      model: 'gpt-4.1',
      usage: '{"total_tokens":3}',
      finishReason: 'stop',
    });
    const ended = await bench.store.endTurn(PLACE, 'turn_t1_1', end(5, { messages: [reply], window: '{"tokens":1}' }));
    const assistant = { ...user, role: 'assistant', id: 'msg_t1_2', seq: 2, content: 'hello', status: 'complete' };
    const over = {
      ...running,
      ...{ status: 'complete', endedAt: START_MS + 2_000, window: '{"tokens":1}' },
      messages: [
        { ...user, status: 'complete' },
        {
          ...assistant,
          ...{ createdAt: START_MS + 2_000, model: 'gpt-4.1', usage: reply.usage, finishReason: 'stop' },
        },
      ],
    };
    expect(ended).toMatchObject({ kind: 'ended', conversation: { seq: 2, version: 1, activeTurn: undefined } });
    expect(ended).toHaveProperty('turn', over);
    expect(await bench.store.findTurn(PLACE, 'turn_t1_1')).toEqual(over);
    expect(await bench.store.lastTurn(PLACE)).toEqual(over);
    expect(await shown()).toEqual(over.messages);
  });

  it('find themselves when a start or an end is repeated after a lost answer', async () => {
    const first = await bench.store.startTurn(PLACE, start('t1', 5, { key: KEY }));
    expect(await bench.store.startTurn(PLACE, start('t1', 5, { key: KEY }))).toEqual(first);
    const ended = await bench.store.endTurn(PLACE, 'turn_t1_1', end(5));
    expect(await bench.store.endTurn(PLACE, 'turn_t1_1', end(5))).toEqual(ended);
    expect((await shown()).map(({ seq, status }) => [seq, status])).toEqual([
      [1, 'complete'],
      [2, 'complete'],
    ]);
  });

  it('are found by their key for its time, with another body as another', async () => {
    const id = await turn(bench.store, 't1', 5, { start: { key: KEY } });
    expect(await bench.store.startTurn(PLACE, start('t2', 6, { key: KEY }))).toMatchObject({
      ...{ kind: 'known', isSame: true, turn: { id, status: 'complete' } },
    });
    const other = { ...KEY, bodyHash: 'body-2' };
    expect(await bench.store.startTurn(PLACE, start('t2', 6, { key: other }))).toMatchObject({
      kind: 'known',
      isSame: false,
    });
    expect(await bench.store.findKeyed(PLACE, KEY)).toMatchObject({ isSame: true, turn: { id } });
    expect(await bench.store.findKeyed(PLACE, other)).toMatchObject({ isSame: false, turn: { id } });
    expect(await bench.store.findKeyed(PLACE, { ...KEY, hash: 'key-2' })).toBeUndefined();
    bench.clock.us += (KEEP_MS - 1) * 1_000;
    expect(await bench.store.change(PLACE, { title: 'x' })).toMatchObject({ seq: 2 });
    expect(await bench.store.findKeyed(PLACE, KEY)).toMatchObject({ isSame: true });
    bench.clock.us += 1_000;
    expect(await bench.store.findKeyed(PLACE, KEY)).toBeUndefined();
    expect(await bench.store.startTurn(PLACE, start('t2', 6, { key: KEY }))).toMatchObject({ kind: 'started' });
  });

  it('are found by their key while they run, to be read along', async () => {
    await bench.store.startTurn(PLACE, start('t1', 5, { key: KEY }));
    expect(await bench.store.findKeyed(PLACE, KEY)).toMatchObject({
      isSame: true,
      turn: { id: 'turn_t1_1', status: 'running' },
    });
    expect(await bench.store.startTurn(PLACE, start('t2', 5, { key: KEY }))).toMatchObject({
      kind: 'known',
      isSame: true,
    });
  });

  it('left running by a holder that is gone are ended by the next one, and replay as incomplete', async () => {
    await bench.store.startTurn(PLACE, start('t1', 5, { key: KEY }));
    await bench.store.addEvents(PLACE, 'turn_t1_1', 5, [{ name: 'delta', data: '"par"' }]);
    for (const next of [start('t2', 6), start('t2', 6, { key: KEY })]) {
      expect(await bench.store.startTurn(PLACE, next)).toMatchObject({
        kind: 'left',
        turn: { id: 'turn_t1_1', status: 'running' },
      });
    }
    const recovered = end(6, { status: 'incomplete', messages: [message('assistant', 'par')], head: 'as-before' });
    expect(await bench.store.endTurn(PLACE, 'turn_t1_1', recovered)).toMatchObject({
      kind: 'ended',
      turn: { status: 'incomplete' },
    });
    expect(await bench.store.startTurn(PLACE, start('t2', 6, { key: KEY }))).toMatchObject({
      ...{ kind: 'known', isSame: true, turn: { id: 'turn_t1_1', status: 'incomplete' } },
    });
    expect(await turn(bench.store, 't2', 6)).toBe('turn_t2_3');
    expect((await shown()).map(({ role, status }) => [role, status])).toEqual([
      ['user', 'complete'],
      ['assistant', 'incomplete'],
      ['user', 'complete'],
      ['assistant', 'complete'],
    ]);
  });

  it('take no word from a holder whose lock went to another', async () => {
    await bench.store.startTurn(PLACE, start('t1', 5));
    await bench.store.endTurn(PLACE, 'turn_t1_1', end(6, { status: 'incomplete' }));
    const before = await shown();
    expect(await bench.store.addEvents(PLACE, 'turn_t1_1', 5, [{ name: 'delta', data: '1' }])).toBe('fenced');
    expect(await bench.store.endTurn(PLACE, 'turn_t1_1', end(5))).toEqual({ kind: 'fenced' });
    expect(await bench.store.startTurn(PLACE, start('t2', 5))).toEqual({ kind: 'fenced' });
    expect(await bench.store.clear(PLACE, 5)).toBe('fenced');
    expect(await shown()).toEqual(before);
    await bench.store.startTurn(PLACE, start('t3', 8));
    expect(await bench.store.addEvents(PLACE, 'turn_t3_3', 7, [{ name: 'delta', data: '1' }])).toBe('fenced');
    expect(await bench.store.endTurn(PLACE, 'turn_t3_3', end(7))).toEqual({ kind: 'fenced' });
    expect(await bench.store.endTurn(PLACE, 'turn_t3_3', end(8))).toMatchObject({ kind: 'ended' });
  });

  it('that failed are shown with both messages', async () => {
    const id = await turn(bench.store, 't1', 5, {
      end: { status: 'failed', error: '{"code":"timeout"}', messages: [message('assistant', '')] },
    });
    expect(await bench.store.findTurn(PLACE, id)).toMatchObject({ status: 'failed', error: '{"code":"timeout"}' });
    expect((await shown()).map(({ status }) => status)).toEqual(['failed', 'failed']);
    const list = await bench.store.cards(PLACE, { encoding: 'o200k', model: 'm' });
    expect(list?.cards.map(({ status, hasContent }) => [status, hasContent])).toEqual([
      ['failed', true],
      ['failed', false],
    ]);
  });

  it('start only at the version that was expected', async () => {
    const ifVersion = { seq: 0, version: 1 };
    await bench.store.change(PLACE, { title: 'x' });
    expect(await bench.store.startTurn(PLACE, start('t1', 5, { ifVersion }))).toEqual({ kind: 'changed' });
    expect(await bench.store.startTurn(PLACE, start('t1', 5, { ifVersion: { seq: 0, version: 2 } }))).toMatchObject({
      kind: 'started',
    });
  });

  it('tell the process that runs them of a cancellation, and of it with their next events', async () => {
    await bench.store.startTurn(PLACE, start('t1', 5, { process: 'p2' }));
    expect(await bench.store.addEvents(PLACE, 'turn_t1_1', 5, [])).toBe('added');
    expect(await bench.store.cancelTurn(PLACE, 'turn_t1_1')).toBe('asked');
    expect(await bench.store.cancelTurn(PLACE, 'turn_t1_1')).toBe('asked');
    const told = ['p2', { kind: 'cancelled', turnId: 'turn_t1_1' }];
    expect(await bench.heard()).toEqual([told, told]);
    expect(await bench.store.findTurn(PLACE, 'turn_t1_1')).toMatchObject({ status: 'running', isCancelled: true });
    expect(await bench.store.addEvents(PLACE, 'turn_t1_1', 5, [])).toBe('cancelled');
    await bench.store.endTurn(PLACE, 'turn_t1_1', end(5, { status: 'incomplete' }));
    expect(await bench.store.cancelTurn(PLACE, 'turn_t1_1')).toBe('over');
    expect(await bench.store.addEvents(PLACE, 'turn_t1_1', 5, [])).toBe('over');
    expect(await bench.store.cancelTurn(PLACE, 'turn_t2_1')).toBe('missing');
    expect(await bench.heard()).toEqual([]);
  });

  it('end with their conversation: whoever runs one is told to stop', async () => {
    await bench.store.startTurn(PLACE, start('t1', 5, { process: 'p2' }));
    await bench.store.events(PLACE, 'turn_t1_1', { afterId: undefined, limit: 9, process: 'p1' });
    expect(await bench.store.remove(PLACE)).toBe('removed');
    expect(await bench.heard()).toEqual([
      ['p1', { kind: 'ended', turnId: 'turn_t1_1' }],
      ['p2', { kind: 'cancelled', turnId: 'turn_t1_1' }],
    ]);
    expect(await bench.store.addEvents(PLACE, 'turn_t1_1', 5, [])).toBe('missing');
    expect(await bench.store.endTurn(PLACE, 'turn_t1_1', end(5))).toEqual({ kind: 'missing' });
    expect(await bench.store.find(PLACE)).toBeUndefined();
  });

  it('are outlived by their conversation, however short that is kept', async () => {
    const place = { owner: 'shop', id: 'short' };
    await bench.store.create(place, draft({ keepMs: 1_000 }));
    await bench.store.startTurn(place, start('t1', 5));
    bench.clock.us += 3_599_000_000;
    expect(await bench.store.endTurn(place, 'turn_t1_1', end(5))).toMatchObject({ kind: 'ended' });
    bench.clock.us += 1_000_000;
    expect(await bench.store.find(place)).toBeUndefined();
  });

  it('are unknown under ids that nobody was given', async () => {
    await turn(bench.store, 't1', 5);
    for (const id of [
      '',
      't1',
      'turn_t1',
      'turn_t1_2',
      'turn_t2_1',
      'turn_t1_01',
      'turn_t1_1e9',
      'turn_t1_99999999999999999',
    ]) {
      expect(await bench.store.findTurn(PLACE, id)).toBeUndefined();
      expect(await bench.store.cancelTurn(PLACE, id)).toBe('missing');
      expect(await bench.store.events(PLACE, id, { afterId: undefined, limit: 9, process: 'p1' })).toBeUndefined();
      expect(await bench.store.endTurn(PLACE, id, end(9))).toEqual({ kind: 'missing' });
      expect(await bench.store.startTurn(PLACE, start('t9', 9, { replaces: id }))).toEqual({ kind: 'changed' });
    }
    await bench.store.startTurn(PLACE, start('t9', 9));
    expect(await bench.store.findTurn(PLACE, 'turn_t9_4')).toBeUndefined();
    expect(await bench.store.cancelTurn(PLACE, 'turn_t9_4')).toBe('missing');
    expect(await bench.store.addEvents(PLACE, 'turn_t9_4', 9, [])).toBe('over');
    expect(await bench.store.endTurn(PLACE, 'turn_t9_4', end(9))).toEqual({ kind: 'missing' });
  });
}
