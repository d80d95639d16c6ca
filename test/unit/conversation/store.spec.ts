import { describe, expect, it } from '@jest/globals';
import {
  formatCard,
  parseCard,
  parseCounts,
  superseded,
  withCount,
  withStatus,
} from '../../../src/conversation/store/card.format.js';
import { conversationKeys, ownerKeys } from '../../../src/conversation/store/conversation.keys.js';
import { readFound, readNews, readPage, readStarted } from '../../../src/conversation/store/conversation.replies.js';
import { MemoryConversationStore } from '../../../src/conversation/store/memory-conversation.store.js';
import { ConversationReplyError } from '../../../src/conversation/store/reply.reader.js';
import { messageIdOf, newTurnToken, parseTurnId, turnIdOf } from '../../../src/conversation/store/turn.id.js';
import { draft, end, KEEP_MS, message, start } from '../../support/conversation-bench.js';

describe('a turn id', () => {
  it('gives back its token and place, also where the token has the separator in it', () => {
    for (const token of [newTurnToken(), '_', '-_1_2', 'a'.repeat(64)]) {
      expect(parseTurnId(turnIdOf({ token, firstSeq: 41 }))).toEqual({ token, firstSeq: 41 });
    }
    expect(messageIdOf('t', 3)).toBe('msg_t_3');
  });

  it('is nothing else', () => {
    for (const id of [
      '',
      'turn_',
      'turn__1',
      'turn_a_0',
      'turn_a_-1',
      'turn_a|b_1',
      `turn_${'a'.repeat(65)}_1`,
      'turn_a_1\n',
    ]) {
      expect(parseTurnId(id)).toBeUndefined();
    }
  });

  it('cannot be guessed: 128 random bits', () => {
    const tokens = new Set(Array.from({ length: 1_000 }, newTurnToken));
    expect(tokens.size).toBe(1_000);
    expect([...tokens].every((token) => Buffer.from(token, 'base64url').length === 16)).toBe(true);
  });
});

describe('conversationKeys()', () => {
  it('are of one slot, say nothing of owner and id, and are not those of any other two', () => {
    const places = [
      { owner: 'ab', id: 'c' },
      { owner: 'a', id: 'bc' },
      { owner: 'abc', id: '' },
      { owner: 'a","b', id: 'c' },
      { owner: 'a', id: '\ud800' },
      { owner: 'a', id: '\udc00' },
    ];
    const keys = places.map((place) => conversationKeys('p:', place));
    expect(new Set(keys.map(([first]) => first)).size).toBe(places.length);
    for (const four of keys) {
      expect(new Set(four.map((key) => /\{[^{}]+\}/.exec(key)?.[0])).size).toBe(1);
      expect(new Set(four).size).toBe(4);
      expect(four[0]).toMatch(/^p:cv:1:\{[\w-]{43}\}$/);
    }
    expect(ownerKeys('p:', 'a')[0]).not.toBe(ownerKeys('p:', 'b')[0]);
  });
});

describe('a card', () => {
  const count = { encoding: 'o200k', tokens: 12, callTokens: 3 } as const;

  it('takes a few bytes, and gives back what a window is planned from', () => {
    const card = withStatus(
      formatCard(message('user', 'hello', { tokens: [{ ...count, callTokens: 0 }] })),
      'complete',
    );
    expect(card).toBe('uc|o12');
    expect(parseCard(card, 7, 'o200k')).toEqual({
      card: { seq: 7, role: 'user', status: 'complete', tokens: 12, callTokens: 0, hasContent: true, calls: [] },
      isSuperseded: false,
    });
  });

  it('keeps all of its parts when it is superseded or counted again', () => {
    const calls = ['a|b,c%', '', '\u00fc'];
    const card = withStatus(formatCard(message('assistant', '', { tokens: [count], calls })), 'incomplete');
    const counted = withCount(superseded(superseded(card)), 'bytes', { tokens: 5, callTokens: 0 });
    expect(withCount(counted, 'bytes', { tokens: 6, callTokens: 0 })).toBe(counted);
    expect(parseCard(counted, 1, 'o200k')).toEqual({
      card: { seq: 1, role: 'assistant', status: 'incomplete', tokens: 12, callTokens: 3, hasContent: false, calls },
      isSuperseded: true,
    });
    expect(parseCard(counted, 1, 'bytes').card.tokens).toBe(5);
    expect(parseCard(counted, 1, 'claude').card.tokens).toBe(-1);
  });

  it('is nothing that was not written so', () => {
    for (const text of ['', 'u', 'up|o1', 'xc', 'ucx', 'uc|z1', 'uc|o', 'uc|o1,']) {
      expect(() => parseCard(text, 1, 'o200k')).toThrow(TypeError);
    }
    expect(() => parseCounts('o1,,o2')).toThrow(TypeError);
  });
});

describe('a damaged answer', () => {
  it('is refused, and names its script', () => {
    for (const reply of [undefined, 'OK', [], [7], [1], [1, 'title'], ['x']]) {
      expect(() => readFound('find', 'c', reply)).toThrow(ConversationReplyError);
      expect(() => readStarted('c', reply)).toThrow(/^start\.lua answered/);
    }
    expect(() => readPage([0, 1, 1, 'head', 'text', '', 0])).toThrow(TypeError);
  });

  it('is no news', () => {
    for (const text of ['', 'ended', 'ended|t', 'ended|t|x', 'ended|t|0', 'began|t|1', 'ended|a b|1']) {
      expect(readNews(text)).toBeUndefined();
    }
    expect(readNews('ended|t|1')).toEqual({ kind: 'ended', turnId: 'turn_t_1' });
  });
});

describe('MemoryConversationStore', () => {
  it('forgets what is over, although nobody asks for it, and the events of turns with it', async () => {
    const clock = { us: 1_764_421_836_000_000 };
    const store = new MemoryConversationStore(() => clock.us);
    for (let number = 0; number < 100; number += 1) {
      const place = { owner: `o${number % 7}`, id: `${number}:c` };
      await store.create(place, draft({ keepMs: number % 2 === 0 ? 1_000 : KEEP_MS }));
      await store.startTurn(place, start(`t${number}`, 1));
      await store.endTurn(place, `turn_t${number}_1`, end(1, { events: [{ name: 'done', data: '{}' }] }));
    }
    clock.us += 700_000_000;
    for (let looks = 0; looks < 100; looks += 1) await store.find({ owner: 'nobody', id: 'x' });
    expect(store.size).toBe(50);
    const events = await store.events({ owner: 'o1', id: '1:c' }, 'turn_t1_1', {
      afterId: 0,
      limit: 9,
      process: undefined,
    });
    expect(events).toEqual({ status: 'complete', events: [], isWhole: false });
    clock.us += KEEP_MS * 1_000;
    for (let looks = 0; looks < 50; looks += 1) await store.find({ owner: 'nobody', id: 'x' });
    expect(store.size).toBe(0);
  });
});
