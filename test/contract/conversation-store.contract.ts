import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { draft, KEEP_MS, PLACE, START_MS, turn, type ConversationBench } from '../support/conversation-bench.js';
import { describeConversationEvents } from './conversation-store.events.js';
import { describeConversationLog } from './conversation-store.log.js';
import { describeConversationOwners } from './conversation-store.owners.js';
import { describeConversationTurns } from './conversation-store.turns.js';

/** What every ConversationStore does, in a time that the test sets. */
export function describeConversationStore(name: string, start: () => Promise<ConversationBench>): void {
  describe(`${name}, conversations`, () => {
    describeConversations(start);
  });
  describe(`${name}, turns`, () => {
    describeConversationTurns(start);
  });
  describe(`${name}, events`, () => {
    describeConversationEvents(start);
  });
  describe(`${name}, the log`, () => {
    describeConversationLog(start);
  });
  describe(`${name}, owners`, () => {
    describeConversationOwners(start);
  });
}

function describeConversations(start: () => Promise<ConversationBench>): void {
  let bench: ConversationBench;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.close());

  it('are created once, and found as they were given', async () => {
    const given = draft({
      title: '',
      model: 'gpt-4.1',
      system: 'Sei höflich 🙂',
      systemTokens: [{ encoding: 'o200k', tokens: 5, callTokens: 0 }],
      metadata: { __proto__x: 'a|b', 'quo"te': '{}' },
    });
    const created = await bench.store.create(PLACE, given);
    const conversation = {
      ...given,
      ...{ id: 'c1', createdAt: START_MS, updatedAt: START_MS, expiresAt: START_MS + KEEP_MS },
      ...{ seq: 0, firstSeq: 1, version: 1, activeTurn: undefined, head: undefined },
    };
    expect(created).toEqual({ isNew: true, conversation });
    expect(await bench.store.create(PLACE, draft({ title: 'other' }))).toEqual({ isNew: false, conversation });
    expect(await bench.store.find(PLACE)).toEqual(conversation);
  });

  it('change in the given members only: a rename outlives what is written later', async () => {
    await bench.store.create(PLACE, draft({ title: 'old', system: 'S', metadata: { a: '1' } }));
    bench.clock.us += 5_000_000;
    const renamed = await bench.store.change(PLACE, { title: 'new' });
    expect(renamed).toMatchObject({ title: 'new', system: 'S', version: 2, updatedAt: START_MS + 5_000 });
    await turn(bench.store, 't1', 7);
    expect(await bench.store.change(PLACE, { system: undefined, metadata: {} })).toMatchObject({
      ...{ title: 'new', system: undefined, metadata: {}, version: 3, seq: 2 },
    });
  });

  it('change, clear and go only at the version that was expected', async () => {
    await bench.store.create(PLACE, draft());
    const [now, later] = [
      { seq: 0, version: 1 },
      { seq: 0, version: 2 },
    ];
    expect(await bench.store.change(PLACE, { title: 'x' }, later)).toBe('changed');
    expect(await bench.store.clear(PLACE, 1, later)).toBe('changed');
    expect(await bench.store.remove(PLACE, later)).toBe('changed');
    expect(await bench.store.change(PLACE, { title: 'x' }, now)).toMatchObject({ version: 2 });
    await turn(bench.store, 't1', 1);
    expect(await bench.store.remove(PLACE, later)).toBe('changed');
    expect(await bench.store.remove(PLACE, { seq: 2, version: 2 })).toBe('removed');
  });

  it('are over at their end, which every turn and change puts off', async () => {
    await bench.store.create(PLACE, draft({ keepMs: 2 * KEEP_MS }));
    bench.clock.us += KEEP_MS * 1_000;
    await bench.store.change(PLACE, { title: 'x' });
    bench.clock.us += KEEP_MS * 1_000;
    await turn(bench.store, 't1', 1);
    bench.clock.us += 2 * KEEP_MS * 1_000 - 1_000;
    expect(await bench.store.find(PLACE)).toMatchObject({ seq: 2, expiresAt: START_MS + 4 * KEEP_MS });
    bench.clock.us += 1_000;
    expect(await bench.store.find(PLACE)).toBeUndefined();
    expect(await bench.store.messages(PLACE, { afterSeq: 0, limit: 9 })).toBeUndefined();
    expect(await bench.store.change(PLACE, { title: 'y' })).toBe('missing');
    expect(await bench.store.create(PLACE, draft())).toMatchObject({
      isNew: true,
      conversation: { seq: 0, title: undefined },
    });
    expect(await bench.store.messages(PLACE, { afterSeq: 0, limit: 9 })).toMatchObject({ messages: [] });
  });

  it('that are kept for ever have no end', async () => {
    await bench.store.create(PLACE, draft({ keepMs: 0 }));
    await turn(bench.store, 't1', 1);
    bench.clock.us += 90 * 365 * KEEP_MS * 1_000;
    expect(await bench.store.find(PLACE)).toMatchObject({ seq: 2, expiresAt: undefined });
  });

  it('are gone once they were removed, and begin anew with nothing of before', async () => {
    await bench.store.create(PLACE, draft({ title: 'first' }));
    const key = { hash: 'k', bodyHash: 'b', keepMs: KEEP_MS };
    const id = await turn(bench.store, 't1', 9, { start: { key } });
    expect(await bench.store.remove(PLACE)).toBe('removed');
    expect(await bench.store.remove(PLACE)).toBe('missing');
    expect(await bench.store.findTurn(PLACE, id)).toBeUndefined();
    await bench.store.create(PLACE, draft());
    expect(await bench.store.findKeyed(PLACE, key)).toBeUndefined();
    expect(await bench.store.find(PLACE)).toMatchObject({ title: undefined, seq: 0, version: 1 });
    expect(await turn(bench.store, 't2', 1, { start: { key } })).toBe('turn_t2_1');
  });
}
