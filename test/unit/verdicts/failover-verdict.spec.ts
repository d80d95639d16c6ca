import { describe, expect, it } from '@jest/globals';
import type { LogMessage } from '../../support/conversation-rig.js';
import {
  answerFaults,
  excused,
  type FailoverPolicy,
  gapAfter,
  quotaFaults,
  repeatFaults,
} from '../../support/failover-verdict.js';
import { logFaults, type SentMessage } from '../../support/log-verdict.js';
import type { LoadedCall } from '../../support/quota-fleet-load.js';

const policy: FailoverPolicy = { deadlineMs: 1_000, failures: [{ from: 10_000, until: 12_000 }], lagMs: 250 };
const call = (more: Partial<LoadedCall>): LoadedCall => ({
  ...{ caller: 'one', pod: 0, sentAt: 0, endedAt: 100, status: 200, code: '' },
  ...more,
});

describe('the verdict on a failover', () => {
  it('passes what is as it should be', () => {
    const calls = [call({}), call({ status: 503, code: 'store_unavailable', retryAfter: '1' })];
    const lost = call({ status: 500, code: 'lock_lost', sentAt: 9_900, endedAt: 10_800 });
    expect(answerFaults([...calls, lost], policy)).toEqual([]);
    expect(quotaFaults({ most: 10, limit: 10 }, calls, policy)).toEqual([]);
    expect(repeatFaults([{ firstAt: 1, againAt: 2, isSame: true }], policy)).toEqual([]);
  });

  it.each([
    ['an error that is nobody’s refusal', { status: 500, code: 'internal_error' }],
    ['a lost lock when nothing had failed', { status: 500, code: 'lock_lost' }],
    ['no answer', { status: 0, code: 'ECONNRESET' }],
    ['a refusal that does not say when to come again', { status: 503, code: 'store_unavailable' }],
    ['an answer behind its deadline', { endedAt: 9_000 }],
  ])('finds %s', (_, more) => {
    expect(answerFaults([call({}), call(more)], policy)).toHaveLength(1);
  });

  it('finds a window with more calls than its limit and those that the failure may have cost', () => {
    const near = [call({ sentAt: 9_800, endedAt: 9_900 }), call({ sentAt: 9_990, endedAt: 10_500 })];
    const far = [call({ sentAt: 9_000, endedAt: 9_100 }), call({ sentAt: 10_001, endedAt: 10_100 })];
    expect(quotaFaults({ most: 12, limit: 10 }, [...near, ...far], policy)).toEqual([]);
    expect(quotaFaults({ most: 13, limit: 10 }, [...near, ...far], policy)).toHaveLength(1);
  });

  it('finds a second answer to one key, unless the first was given in a failure or just before', () => {
    const repeat = { isSame: false, firstAt: 9_900, againAt: 10_100 };
    const early = { ...repeat, firstAt: 1_000, againAt: 1_001 };
    expect(repeatFaults([repeat, { ...repeat, firstAt: 11_000, againAt: 13_000 }], policy)).toEqual([]);
    expect(repeatFaults([early, { ...repeat, firstAt: 20_000, againAt: 20_001 }], policy)).toHaveLength(2);
  });

  it('excuses what was acknowledged just before a failure, and nothing else', () => {
    const sent = [9_000, 9_900, 11_000].map((answeredAt) => ({ ...message('a', true), answeredAt }));
    expect(excused(sent, policy).map(({ isAcknowledged }) => isAcknowledged)).toEqual([true, false, true]);
  });

  it('counts a gap to the end of the first good call after the failure, or after the first refusal', () => {
    const calls = [call({ sentAt: 9_999, endedAt: 10_001 }), call({ sentAt: 10_002, endedAt: 10_100 })];
    const refused = [call({ sentAt: 10_001, endedAt: 10_300, status: 503 }), call({ sentAt: 10_400, endedAt: 10_900 })];
    expect(gapAfter(calls, 10_000)).toBe(100);
    expect(gapAfter([...calls, ...refused], 10_000)).toBe(900);
    expect(gapAfter([], 10_000)).toBe(Infinity);
  });
});

describe('the verdict on a log', () => {
  const pair = (turn: string, seq: number, status = 'complete'): LogMessage[] =>
    ['user', 'assistant'].map((role, at) => ({
      ...{ id: `${turn}-${role}`, seq: seq + at, role, content: status === 'failed' && at === 1 ? '' : turn },
      ...{ status: at === 0 ? 'complete' : status, turn_id: turn, superseded: false },
    }));
  const same = (content: string): string => content;
  const faultsOf = (log: readonly LogMessage[], sent: readonly SentMessage[] = [], isTriedAnew = false): number =>
    logFaults(log, sent, same, isTriedAnew).length;

  it('passes whole turns one after the other, and a refused try before the one that was answered', () => {
    expect(faultsOf([...pair('a', 1), ...pair('b', 3)], [message('a', true), message('c', false)])).toBe(0);
    expect(faultsOf([...pair('a', 1, 'failed'), ...pair('a', 3)], [message('a', true)], true)).toBe(0);
  });

  it.each([
    ['a gap', [...pair('a', 1), ...pair('b', 4)], 2],
    ['turns that mix', interleaved(pair('a', 1), pair('b', 3)), 4],
    ['a turn that never ended', pair('a', 1, 'pending'), 1],
    ['another one’s reply', [pair('a', 1)[0], pair('b', 1)[1]].filter((one) => one !== undefined), 1],
  ])('finds %s', (_, log, least) => {
    expect(faultsOf(log)).toBeGreaterThanOrEqual(least);
  });

  it('finds what was acknowledged and is not there, or is there twice', () => {
    expect(faultsOf(pair('a', 1), [message('b', true)])).toBe(1);
    expect(faultsOf([...pair('a', 1), ...pair('a', 3)], [message('a', true)], true)).toBe(1);
    expect(faultsOf(pair('a', 1, 'failed'), [message('a', true)], true)).toBe(1);
  });
});

function message(content: string, isAcknowledged: boolean): SentMessage {
  return { path: '/', content, isAcknowledged, seen: undefined };
}

/** Both questions, then both replies. */
function interleaved(one: readonly LogMessage[], two: readonly LogMessage[]): LogMessage[] {
  const mixed = [one[0], two[0], one[1], two[1]].filter((message) => message !== undefined);
  return mixed.map((message, at) => ({ ...message, seq: at + 1 }));
}
