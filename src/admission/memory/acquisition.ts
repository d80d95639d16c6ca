import { ADMISSION_LIMITS } from '../admission.limits.js';
import { ruleOf } from '../admission.replies.js';
import type { AcquireAnswer, AcquireCommand, ScopeNews } from '../admission.store.js';
import { periodEnd } from '../budget.period.js';
import type { FlowQueue } from './flow.book.js';
import type { OpenScope, Wish } from './open-scope.js';
import { pump } from './pump.js';
import type { Expectation, ScopeRoom } from './scope.room.js';

/** What an acquire comes to, as acquire.lua decides it. */
type Decision =
  | { readonly kind: 'granted'; readonly atMs: number }
  | { readonly kind: 'waiting'; readonly inMs: number; readonly rule: string }
  | { readonly kind: 'refused'; readonly inMs: number; readonly rule: string; readonly isExact: boolean }
  | { readonly kind: 'never'; readonly rule: string }
  | { readonly kind: 'cancelled' };

const NOTHING = { calls: 0, tokens: 0 };

/** Reserves, queues or refuses in an open scope that was swept, and finishes it. */
export function acquireIn(scope: OpenScope, command: AcquireCommand): AcquireAnswer {
  const { flow, weight, tokens, process, microUsd, leaseMs } = command;
  const wish = { flow, weight, tokens, process, microUsd, leaseMs };
  const decision = found(scope, command.id) ?? refusal(scope, wish) ?? decide(scope, command, wish);
  return answer(scope.finish(), scope, { command, decision });
}

function found(scope: OpenScope, id: string): Decision | undefined {
  const record = scope.recordOf(id);
  switch (record?.state) {
    case undefined:
      return undefined;
    case 'granted':
      return { kind: 'granted', atMs: record.atMs };
    case 'waiting':
      return { kind: 'waiting', inMs: Math.max(0, record.expectedAt - scope.kept.time), rule: record.rule };
    case 'cancelled':
      return { kind: 'cancelled' };
  }
}

/** What no time heals, or what only the end of a period or of other calls does. */
function refusal(scope: OpenScope, wish: Wish): Decision | undefined {
  const { kept, room, budgets } = scope;
  for (const window of room.windows) {
    const rule = `tokens:${window.windowMs}`;
    if (wish.tokens > window.mostTokens) return { kind: 'never', rule };
    if (wish.tokens > window.tokenLimit) return { kind: 'refused', inMs: window.learnedForMs, rule, isExact: true };
  }
  const refused = budgets.refusal(wish, kept);
  if (refused === undefined) return undefined;
  const { name: rule, cause } = refused;
  if (cause === 'limit') return { kind: 'never', rule };
  if (cause === 'spent') {
    const period = rule.endsWith(':day') ? 'day' : 'month';
    return { kind: 'refused', inMs: periodEnd(period, kept.time) - kept.time, rule, isExact: true };
  }
  const inMs = Math.max(1, (kept.leases.first?.score ?? 0) - kept.time);
  return { kind: 'refused', inMs, rule, isExact: false };
}

function decide(scope: OpenScope, command: AcquireCommand, wish: Wish): Decision {
  const { kept, room } = scope;
  if (kept.queued > 0 && kept.time >= kept.pumpAt) pump(scope);
  const at = kept.queued === 0 && room.hasSlot ? room.soon(wish.tokens) : undefined;
  if (at !== undefined && at <= kept.time + command.waitMs) {
    const tag = scope.grant(command.id, wish, at, scope.startOf(wish.flow));
    kept.flows.remember(wish.flow, { ...kept.flows.historyOf(wish.flow), tag });
    scope.reserve(wish, 1);
    return { kind: 'granted', atMs: at };
  }
  const expected = expectation(scope, wish);
  const inMs = expected.at - kept.time;
  if (inMs <= command.waitMs) return enqueue(scope, { command, wish, expected });
  return { kind: 'refused', inMs, rule: expected.rule, isExact: expected.isExact };
}

function enqueue(
  scope: OpenScope,
  {
    command: { id, waitMs },
    wish,
    expected: { at, rule },
  }: { command: AcquireCommand; wish: Wish; expected: Expectation },
): Decision {
  if (scope.enqueue(id, wish, { at, rule, waitMs })) {
    pump(scope);
    const record = scope.recordOf(id);
    if (record?.state === 'granted') {
      scope.untell(id);
      return { kind: 'granted', atMs: record.atMs };
    }
  }
  return { kind: 'waiting', inMs: at - scope.kept.time, rule };
}

function expectation(scope: OpenScope, wish: Wish): Expectation {
  const { kept, room } = scope;
  const [callsBefore, tokensBefore] = ahead(scope, wish);
  const expected = room.roomAt(wish.tokens, callsBefore, tokensBefore);
  const at = Math.ceil(expected.at);
  const open = kept.open + callsBefore;
  if (open < room.slots) return { ...expected, at };
  const meanMs = kept.meanMs > 0 ? kept.meanMs : ADMISSION_LIMITS.guessMs;
  const slotAt = kept.time + ((open + 1 - room.slots) / room.slots) * meanMs;
  return slotAt > expected.at ? { at: Math.ceil(slotAt), rule: 'slots', isExact: false } : { ...expected, at };
}

/** What the fair queue puts before a new waiter of this flow: calls and tokens. */
function ahead({ kept, room }: OpenScope, wish: Wish): [number, number] {
  const { flows } = kept;
  let { calls, tokens } = flows.queueOf(wish.flow) ?? NOTHING;
  if (kept.queued === calls || flows.active.size > ADMISSION_LIMITS.crowd) return [kept.queued, kept.queuedTokens];
  const tag = flows.active.scoreOf(wish.flow) ?? flows.historyOf(wish.flow).tag;
  const ownCost = room.costOf(calls, tokens, calls * room.expected(0));
  const start = Math.max(kept.virtual, tag) + ownCost / wish.weight;
  for (const { member, score } of flows.active) {
    if (score > start) break;
    const queue = flows.queueOf(member);
    if (member === wish.flow || queue === undefined) continue;
    const passing = callsBefore(queue, start - score, room);
    calls += Math.ceil(passing);
    tokens += (passing * queue.tokens) / queue.calls;
  }
  return [calls, tokens];
}

/** How many calls of another flow come before one whose tag is so much higher. */
function callsBefore({ calls, tokens, weight }: Readonly<FlowQueue>, distance: number, room: ScopeRoom): number {
  const cost = room.costOf(calls, tokens, calls * room.expected(0)) / calls;
  // Many calls of a flow are taken for a backlog that goes on.
  const most = calls >= ADMISSION_LIMITS.backlog ? Infinity : ADMISSION_LIMITS.sparse * calls;
  return cost === 0 ? calls : Math.min(most, (distance * weight) / cost + 1);
}

function answer(
  news: ScopeNews,
  { room: { usage } }: OpenScope,
  { command, decision }: { command: AcquireCommand; decision: Decision },
): AcquireAnswer {
  if (decision.kind === 'granted') return { usage, ...news, ...decision };
  if (decision.kind === 'cancelled') return { ...news, ...decision };
  const rule = ruleOf(decision.rule, command.scope.rules, usage);
  if (decision.kind === 'waiting') return { usage, ...news, ...decision, rule };
  if (rule === undefined) throw new TypeError(`no rule is called ${decision.rule}`);
  return { usage, ...news, inMs: 0, isExact: true, ...decision, rule };
}
