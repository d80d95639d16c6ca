import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { draft, end, PLACE, start, type ConversationBench } from '../support/conversation-bench.js';

const ID = 'turn_t1_1';
const delta = (data: string) => ({ name: 'delta', data });

export function describeConversationEvents(open: () => Promise<ConversationBench>): void {
  let bench: ConversationBench;
  beforeEach(async () => {
    bench = await open();
    await bench.store.create(PLACE, draft());
    await bench.store.startTurn(PLACE, start('t1', 5));
  });
  afterEach(() => bench.close());

  const read = (afterId?: number, limit = 100, process?: string) =>
    bench.store.events(PLACE, ID, { afterId, limit, process });

  it('are read from the first, or after the last that is known', async () => {
    expect(await read()).toEqual({ events: [], status: 'running', isWhole: true });
    await bench.store.addEvents(PLACE, ID, 5, [delta('"a"'), delta('"ü"')]);
    await bench.store.addEvents(PLACE, ID, 5, [delta('"c"')]);
    expect(await read()).toEqual({
      events: [
        { id: 1, name: 'delta', data: '"a"' },
        { id: 2, name: 'delta', data: '"ü"' },
        { id: 3, name: 'delta', data: '"c"' },
      ],
      ...{ status: 'running', isWhole: true },
    });
    expect(await read(2)).toMatchObject({ events: [{ id: 3 }], isWhole: true });
    expect(await read(3)).toEqual({ events: [], status: 'running', isWhole: true });
    expect(await read(undefined, 2)).toMatchObject({ events: [{ id: 1 }, { id: 2 }] });
  });

  it('end with those that the turn ends with, and are kept for ten minutes after it', async () => {
    await bench.store.addEvents(PLACE, ID, 5, [delta('1')]);
    await bench.store.endTurn(PLACE, ID, end(5, { events: [{ name: 'done', data: '{}' }] }));
    bench.clock.us += 599_999_000;
    expect(await read(1)).toEqual({ events: [{ id: 2, name: 'done', data: '{}' }], status: 'complete', isWhole: true });
    expect(await read(2)).toEqual({ events: [], status: 'complete', isWhole: true });
    bench.clock.us += 1_000;
    expect(await read(1)).toEqual({ events: [], status: 'complete', isWhole: false });
    expect(await read()).toEqual({ events: [], status: 'complete', isWhole: false });
  });

  it('stay readable while the next turn runs', async () => {
    await bench.store.endTurn(PLACE, ID, end(5, { events: [{ name: 'done', data: '{}' }] }));
    await bench.store.startTurn(PLACE, start('t2', 6));
    expect(await read()).toMatchObject({ events: [{ name: 'done' }], status: 'complete', isWhole: true });
  });

  it('wake those who read along, once they have asked, and nobody else', async () => {
    await bench.store.addEvents(PLACE, ID, 5, [delta('1')]);
    expect(await bench.heard()).toEqual([]);
    await read(0, 100, 'p2');
    await read(1, 100, 'p2');
    await bench.store.addEvents(PLACE, ID, 5, [delta('2')]);
    await bench.store.endTurn(PLACE, ID, end(5));
    expect(await bench.heard()).toEqual([
      ['p2', { kind: 'events', turnId: ID }],
      ['p2', { kind: 'ended', turnId: ID }],
    ]);
    await read(1, 100, 'p1');
    await bench.store.startTurn(PLACE, start('t2', 6));
    await bench.store.addEvents(PLACE, 'turn_t2_3', 6, [delta('1')]);
    expect(await bench.heard()).toEqual([]);
  });

  it('of a turn without end are kept up to a number, and who comes too late is told', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => delta(`${index}`));
    for (let times = 0; times < 21; times += 1) await bench.store.addEvents(PLACE, ID, 5, many);
    expect(await read()).toMatchObject({ isWhole: false });
    const late = await read(20_998);
    expect(late).toMatchObject({ events: [{ id: 20_999, data: '998' }, { id: 21_000 }], isWhole: true });
  });
}
