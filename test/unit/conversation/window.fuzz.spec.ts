import { describe, expect, it } from '@jest/globals';
import type { MessageCard } from '../../../src/conversation/window/message.card.js';
import {
  isOverflow,
  planWindow,
  type WindowPlan,
  type WindowRequest,
} from '../../../src/conversation/window/window.planner.js';
import { sized } from '../../support/proof-scale.js';

const LOGS = sized(5_000, 200_000);

/** Numbers from a seed (mulberry32), so that a log that fails can be made again. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

/** A log as bad as can be: orphans, missing, double and foreign results, empty and failed messages, calls twice the same. */
function randomRequest(random: (below: number) => number): WindowRequest {
  const cards: MessageCard[] = [];
  const length = random(30);
  for (let seq = 1; seq <= length; seq += 1) cards.push(randomCard(seq, random));
  if (random(4) > 0)
    cards.push({
      seq: length + 1,
      role: 'user',
      status: 'complete',
      tokens: 1 + random(40),
      callTokens: 0,
      hasContent: true,
      calls: [],
    });
  const hasHead = random(3) === 0;
  return {
    cards,
    fixedTokens: random(40),
    budget: random(400),
    ...(hasHead && { headSeq: 1 + random(length + 1) }),
  };
}

function randomCard(seq: number, random: (below: number) => number): MessageCard {
  const role = (['user', 'assistant', 'assistant', 'tool', 'tool'] as const)[random(5)] ?? 'user';
  const id = (): string => 'abc'.charAt(random(3));
  const calls = role === 'assistant' && random(2) === 0 ? Array.from({ length: 1 + random(3) }, id) : [];
  const tokens = 1 + random(40);
  return {
    seq,
    role,
    status: (['complete', 'complete', 'complete', 'incomplete', 'failed'] as const)[random(5)] ?? 'complete',
    tokens,
    callTokens: calls.length === 0 ? 0 : random(tokens),
    hasContent: random(6) > 0,
    calls,
    ...(role === 'tool' && { answers: id() }),
  };
}

/** What a provider, and a reader of the log, would object to. */
function violations(plan: WindowPlan, { cards, budget, fixedTokens, headSeq = 0 }: WindowRequest): readonly string[] {
  const { messages } = plan;
  const found: string[] = [];
  const note = (isWrong: boolean, what: string): void => {
    if (isWrong) found.push(what);
  };
  const seqs = messages.map(({ card }) => card.seq);
  note(messages.length > 0 && messages[0]?.card.role !== 'user', 'does not begin with a user');
  note(plan.tokens > budget, 'over its budget');
  note(plan.tokens !== fixedTokens + messages.reduce((sum, { tokens }) => sum + tokens, 0), 'counts wrong');
  note(
    seqs.some((seq, at) => at > 0 && seq <= (seqs[at - 1] ?? 0)),
    'out of order',
  );
  note(
    messages.some(({ card }) => card.status === 'failed'),
    'sends what failed',
  );
  note(
    messages.some(
      ({ card, isWithoutCalls }) =>
        !card.hasContent && (isWithoutCalls || card.calls.length === 0) && card.role !== 'tool',
    ),
    'sends nothing',
  );
  const newest = cards.findLast(({ role, status, hasContent }) => role === 'user' && status !== 'failed' && hasContent);
  note(newest !== undefined && !seqs.includes(newest.seq), 'the newest user is not in');
  note(
    seqs.some((seq) => seq < headSeq && seq < (newest?.seq ?? 0)),
    'older than its head',
  );
  note(
    [...seqs, ...plan.dropped].sort((a, b) => a - b).join() !== cards.map(({ seq }) => seq).join(),
    'a message is lost',
  );
  return [...found, ...unpaired(plan)];
}

function unpaired({ messages }: WindowPlan): readonly string[] {
  const open = new Set<string>();
  for (const { card, isWithoutCalls } of messages) {
    if (card.role === 'tool') {
      if (!open.delete(card.answers ?? '')) return ['a result without its call'];
      continue;
    }
    if (open.size > 0) return ['a call without its result'];
    if (!isWithoutCalls) for (const call of card.calls) open.add(call);
  }
  return open.size > 0 ? ['a call without its result'] : [];
}

describe('planWindow() over random logs', () => {
  it(`sends what a provider takes, within the budget, in ${String(LOGS)} of them`, () => {
    let planned = 0;
    let pruned = 0;
    for (let seed = 1; seed <= LOGS; seed += 1) {
      const request = randomRequest(randomOf(seed));
      const plan = planWindow(request);
      if (isOverflow(plan)) {
        if (plan.overBy !== plan.fixedTokens + plan.messageTokens - plan.budget || plan.overBy <= 0) {
          throw new Error(`seed ${String(seed)}: an overflow that is none`);
        }
        continue;
      }
      planned += 1;
      if (plan.headSeq !== undefined) pruned += 1;
      const wrong = violations(plan, request);
      if (wrong.length > 0) throw new Error(`seed ${String(seed)}: ${wrong.join(', ')}`);
    }
    // The logs must be such that there was something to do.
    expect(planned).toBeGreaterThan(LOGS / 2);
    expect(pruned).toBeGreaterThan(LOGS / 20);
  });

  it('notices what it is there to notice', () => {
    const request = randomRequest(randomOf(3));
    const [card] = request.cards;
    if (card === undefined) throw new Error('the log of this seed is empty');
    const broken: WindowPlan = {
      messages: [{ card: { ...card, role: 'tool', answers: 'z' }, isWithoutCalls: false, tokens: 1 }],
      tokens: request.budget + 1,
      headSeq: undefined,
      dropped: [],
    };
    expect(violations(broken, request)).toEqual(
      expect.arrayContaining([
        'does not begin with a user',
        'over its budget',
        'a message is lost',
        'a result without its call',
      ]),
    );
  });
});
