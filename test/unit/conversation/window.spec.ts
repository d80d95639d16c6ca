import { describe, expect, it } from '@jest/globals';
import { promptBudget } from '../../../src/conversation/window/window.budget.js';
import { isOverflow, planWindow, type WindowPlan } from '../../../src/conversation/window/window.planner.js';
import { assistant, calling, cardsOf, result, type ShortCard, user } from '../../support/message-cards.js';

const PLENTY = 1_000_000;

function plan(messages: readonly ShortCard[], more: { budget?: number; fixedTokens?: number; headSeq?: number } = {}) {
  const { budget = PLENTY, fixedTokens = 0, headSeq } = more;
  const planned = planWindow({
    cards: cardsOf(...messages),
    budget,
    fixedTokens,
    ...(headSeq !== undefined && { headSeq }),
  });
  if (isOverflow(planned)) throw new Error(`over by ${String(planned.overBy)}`);
  return planned;
}

/** The places of what is sent; in brackets without its calls. */
const sent = ({ messages }: WindowPlan): readonly (number | [number])[] =>
  messages.map(({ card, isWithoutCalls }) => (isWithoutCalls ? [card.seq] : card.seq));

describe('planWindow()', () => {
  it('sends everything that fits, and says so', () => {
    const planned = plan([user(), assistant(), user()], { fixedTokens: 7 });
    expect(sent(planned)).toEqual([1, 2, 3]);
    expect(planned).toMatchObject({ tokens: 37, headSeq: undefined, dropped: [] });
  });

  it('lets a call and its result leave together (conversations, case 1)', () => {
    const log = [user(), calling('c1'), result('c1'), assistant(), user()];
    for (let budget = 10; budget < 50; budget += 1) expect(sent(plan(log, { budget }))).toEqual([5]);
    expect(sent(plan(log, { budget: 50 }))).toEqual([1, 2, 3, 4, 5]);
  });

  it('keeps parallel calls with all of their results, in any order, and no others (case 2)', () => {
    const three = calling('a', 'b', 'c');
    expect(sent(plan([user(), three, result('c'), result('a'), result('b'), user()]))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(sent(plan([user(), three, result('a'), result('b'), user()]))).toEqual([1, 5]);
    expect(sent(plan([user(), three, result('a'), result('b'), result('x'), user()]))).toEqual([1, 6]);
    expect(sent(plan([user(), three, result('a'), result('b'), result('b'), user()]))).toEqual([1, 6]);
  });

  it('keeps the text of a message whose calls were not answered (case 3)', () => {
    const planned = plan([user(), assistant({ calls: ['c1'], callTokens: 4 }), user()]);
    expect(sent(planned)).toEqual([1, [2], 3]);
    expect(planned.tokens).toBe(26);
  });

  it('begins with a user, whatever the budget (case 7)', () => {
    const log = [assistant(), result('x'), user(), assistant(), assistant(), user(), assistant(), user()];
    for (let budget = 10; budget <= 100; budget += 1) {
      const { messages } = plan(log, { budget });
      expect(messages[0]?.card.role).toBe('user');
      expect(messages.at(-1)?.card.seq).toBe(8);
    }
  });

  it('has an answer to an empty log and to no budget (case 6)', () => {
    expect(plan([])).toEqual({ messages: [], tokens: 0, headSeq: undefined, dropped: [] });
    expect(planWindow({ cards: [], fixedTokens: 5, budget: 0 })).toEqual({
      overBy: 5,
      fixedTokens: 5,
      messageTokens: 0,
      budget: 0,
    });
  });

  it('tells by how much the newest message is too long (case 8)', () => {
    const cards = cardsOf(user(), assistant(), user({ tokens: 91 }));
    expect(planWindow({ cards, fixedTokens: 10, budget: 100 })).toEqual({
      overBy: 1,
      fixedTokens: 10,
      messageTokens: 91,
      budget: 100,
    });
  });

  it('never sends what failed, and sends what was cut off', () => {
    const log = [
      user({ status: 'failed' }),
      assistant({ status: 'failed' }),
      user(),
      assistant({ status: 'incomplete' }),
      user(),
    ];
    expect(sent(plan(log))).toEqual([3, 4, 5]);
    expect(plan(log).dropped).toEqual([1, 2]);
  });

  it('leaves an empty reply out (case 24)', () => {
    expect(sent(plan([user(), assistant({ hasContent: false }), user()]))).toEqual([1, 3]);
  });

  it('stops at the first unit that does not fit: no holes', () => {
    const log = [user(), assistant(), user({ tokens: 80 }), assistant(), user(), assistant(), user()];
    expect(sent(plan(log, { budget: 100 }))).toEqual([5, 6, 7]);
  });

  it('leaves room when it prunes, and keeps its head until it is over again', () => {
    const log: ShortCard[] = [];
    let headSeq: number | undefined;
    const heads: (number | undefined)[] = [];
    for (let turn = 0; turn < 50; turn += 1) {
      log.push(user());
      const planned = plan(log, { budget: 200, ...(headSeq !== undefined && { headSeq }) });
      expect(planned.tokens).toBeLessThanOrEqual(200);
      if (planned.headSeq !== headSeq) expect(planned.tokens).toBeLessThanOrEqual(140);
      headSeq = planned.headSeq;
      heads.push(headSeq);
      log.push(assistant());
    }
    // Each of the heads stays for three turns or more: 60 tokens of room, 20 a turn.
    expect(new Set(heads).size).toBeLessThanOrEqual(1 + 50 / 3);
    expect(headSeq).toBeGreaterThan(80);
  });
});

describe('promptBudget()', () => {
  const room = { hasSeparateInputLimit: false, isExact: true };

  it.each([
    ['a part of a large window', { contextWindow: 1_047_576, reservedOutput: 32_768 }, 890_439],
    ['what a long reply leaves', { contextWindow: 200_000, reservedOutput: 64_000 }, 136_000],
    ['half of a window that is half the reply', { contextWindow: 128_000, reservedOutput: 64_000 }, 64_000],
    ['what the configuration allows', { contextWindow: 128_000, reservedOutput: 8_000, mostInput: 4_000 }, 4_000],
    ['nothing, where the reply alone is too long', { contextWindow: 1_000, reservedOutput: 1_200 }, -200],
  ])('is %s', (_case, numbers, budget) => {
    expect(promptBudget({ ...room, ...numbers })).toBe(budget);
  });

  it('holds the reply back only where it shares the window', () => {
    const numbers = { contextWindow: 100_000, reservedOutput: 65_536, isExact: true };
    expect(promptBudget({ ...numbers, hasSeparateInputLimit: true })).toBe(85_000);
  });

  it('leaves room for what a foreign counter gets wrong', () => {
    const budget = promptBudget({ ...room, contextWindow: 200_000, reservedOutput: 64_000, isExact: false });
    expect(budget * 1.03 + 64).toBeLessThanOrEqual(136_000);
    expect(budget).toBeGreaterThan(131_000);
  });
});
