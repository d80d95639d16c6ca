import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { Place } from '../../src/conversation/store/index.js';
import { draft, end, PLACE, start, turn, type ConversationBench } from '../support/conversation-bench.js';

export function describeConversationOwners(open: () => Promise<ConversationBench>): void {
  let bench: ConversationBench;
  beforeEach(async () => {
    bench = await open();
  });
  afterEach(() => bench.close());

  const create = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) await bench.store.create({ owner: 'shop', id }, draft());
  };
  const list = async (limit: number, after?: { updatedAt: number; id: string }) => {
    const page = await bench.store.list('shop', { after, limit });
    return { ids: page.conversations.map(({ id }) => id), hasMore: page.hasMore, last: page.last };
  };

  it('see nothing of a foreign conversation of the same id, and change nothing in it', async () => {
    await bench.store.create(PLACE, draft({ title: 'mine' }));
    const key = { hash: 'k', bodyHash: 'b', keepMs: 60_000 };
    const id = await turn(bench.store, 't1', 1, { start: { key } });
    await bench.store.startTurn(PLACE, start('t2', 2));
    const foreign: Place = { owner: 'shop2', id: PLACE.id };
    const before = [await bench.store.find(PLACE), await bench.store.messages(PLACE, { afterSeq: 0, limit: 9 })];
    const request = { afterId: 0, limit: 9, process: 'p2' };
    expect([
      await bench.store.find(foreign),
      await bench.store.findTurn(foreign, id),
      await bench.store.lastTurn(foreign),
      await bench.store.findKeyed(foreign, key),
      await bench.store.events(foreign, 'turn_t2_3', request),
      await bench.store.messages(foreign, { afterSeq: 0, limit: 9 }),
      await bench.store.cards(foreign, { encoding: 'o200k', model: 'm' }),
    ]).toEqual(Array(7).fill(undefined));
    expect([
      await bench.store.change(foreign, { title: 'x' }),
      await bench.store.remove(foreign),
      await bench.store.clear(foreign, 99),
      await bench.store.startTurn(foreign, start('t3', 99)),
      await bench.store.addEvents(foreign, 'turn_t2_3', 99, [{ name: 'delta', data: '1' }]),
      await bench.store.endTurn(foreign, 'turn_t2_3', end(99)),
      await bench.store.cancelTurn(foreign, 'turn_t2_3'),
    ]).toEqual(['missing', 'missing', 'missing', { kind: 'missing' }, 'missing', { kind: 'missing' }, 'missing']);
    await bench.store.saveTokens(foreign, 'o200k', [{ seq: 1, tokens: 1, callTokens: 0 }]);
    expect((await bench.store.list(foreign.owner, { after: undefined, limit: 9 })).conversations).toEqual([]);
    expect([await bench.store.find(PLACE), await bench.store.messages(PLACE, { afterSeq: 0, limit: 9 })]).toEqual(
      before,
    );
    expect(await bench.heard()).toEqual([]);
  });

  it('list their conversations, the last used one first, page by page', async () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      await create(id);
      bench.clock.us += 1_000_000;
    }
    await turn(bench.store, 't1', 1, { place: { owner: 'shop', id: 'a' } });
    const first = await list(2);
    expect(first).toMatchObject({ ids: ['a', 'd'], hasMore: true });
    // Used between two pages: it goes to the top, and nothing is told twice or left out.
    bench.clock.us += 1_000_000;
    await turn(bench.store, 't2', 2, { place: { owner: 'shop', id: 'd' } });
    expect(await list(2, first.last)).toMatchObject({ ids: ['c', 'b'], hasMore: false });
    expect(await list(9)).toMatchObject({ ids: ['d', 'a', 'c', 'b'], hasMore: false });
  });

  it('list those of one moment by their ids, also across pages', async () => {
    const ids = ['z', 'a', 'ä', 'a/b', 'Z', '🙂', '日', 'a0', ''];
    await create(...ids);
    const found: string[] = [];
    for (let page = await list(2); ; page = await list(2, page.last)) {
      found.push(...page.ids);
      if (!page.hasMore) break;
    }
    const byBytes = [...ids].sort((one, other) => Buffer.compare(Buffer.from(other), Buffer.from(one)));
    expect(found).toEqual(byBytes);
  });

  it('go on where they were although the conversation there is gone', async () => {
    for (const id of ['a', 'b', 'c', 'd']) {
      await create(id);
      bench.clock.us += 1_000;
    }
    const first = await list(2);
    await bench.store.remove({ owner: 'shop', id: 'c' });
    expect(await list(2, first.last)).toMatchObject({ ids: ['b', 'a'], hasMore: false });
  });

  it('list nothing that is over', async () => {
    await create('a');
    await bench.store.create({ owner: 'shop', id: 'short' }, draft({ keepMs: 1_000 }));
    bench.clock.us += 1_000_000;
    expect(await list(1)).toMatchObject({ ids: ['a'], hasMore: false });
  });
}
