import { describe, expect, it } from '@jest/globals';
import type { BalancedRequest } from '../../support/haproxy.js';
import type { Sighting } from '../../support/pod-watch.js';
import type { RolledCall, Visit } from '../../support/rolling-traffic.js';
import { type PodEnd, type RolledRun, rolloutFaults } from '../../support/rolling-verdict.js';

const call: RolledCall = {
  ...{ kind: 'stream', id: 'a', booked: ['a'], startedAt: 0, endedAt: 5, status: 200 },
  ...{ text: 'one two', expected: 'one two', isWhole: true, fault: '' },
};
const early: Visit = { room: 'r', fence: 1, enteredAt: 0, leftAt: 10 };
const late: Visit = { room: 'r', fence: 2, enteredAt: 10, leftAt: 20 };
const ready: Sighting = { path: '/ready', status: 200, isClosing: false, code: '' };
const unready: Sighting = { ...ready, status: 503, isClosing: true };
const taken: Sighting = { ...ready, path: '/v1/models' };
const takenLast: Sighting = { ...taken, isClosing: true };
const refused: Sighting = { ...takenLast, status: 503 };
const reset: Sighting = { ...taken, status: 0, code: 'ECONNRESET' };
const pod: PodEnd = {
  ...{ name: 'p', ended: { code: 0, signal: null, errors: '' }, tookMs: 900 },
  sightings: [ready, taken, unready, takenLast],
};
const request: BalancedRequest = {
  slot: 'pod1',
  status: 200,
  end: '--',
  retries: 0,
  request: 'POST /v1/chat HTTP/1.1',
};
const good: RolledRun = {
  ...{ calls: [call], visits: [late, early], pods: [pod], balanced: [request], graceMs: 1_000 },
  ledger: [{ request_id: 'a', outcome: 'complete' }],
  left: { locks: [], open: 0, queued: 0, reservedMicroUsd: 0, reservedTokens: 0 },
};

describe('the verdict on a rollout', () => {
  it('has nothing against one that nobody noticed', () => {
    expect(rolloutFaults(good)).toEqual([]);
  });

  it('has nothing against a reader of a turn who leaves and comes back', () => {
    const left = { ...request, end: 'CD', request: 'POST /v1/conversations/c/turns HTTP/1.1' };
    expect(rolloutFaults({ ...good, balanced: [left] })).toEqual([]);
  });

  it.each<[string, string, Partial<RolledRun>]>([
    ['a call without an answer', 'no answer, fetch failed', calls({ status: 0, fault: 'fetch failed' })],
    ['a refused call', 'refused with 503', calls({ status: 503, text: '{"error":{}}' })],
    ['a stream that was cut', 'cut after 3 of 7', calls({ text: 'one', isWhole: false })],
    ['a stream that lacks a piece though it ends well', 'said one', calls({ text: 'one' })],
    ['two in one room', 'two at one time', { visits: [{ ...early, leftAt: 11 }, late] }],
    ['a fence that does not rise', 'fence 1 after 1', { visits: [early, { ...late, fence: 1 }] }],
    ['an exit code', 'ended with 1', pods({ ended: { code: 1, signal: null, errors: '' } })],
    ['a pod that was killed', 'ended with SIGKILL', pods({ ended: { code: null, signal: 'SIGKILL', errors: '' } })],
    ['a pod that complains', 'wrote oh', pods({ ended: { code: 0, signal: null, errors: 'oh' } })],
    ['a pod that outlives its grace', 'took 1001 ms', pods({ tookMs: 1_001 })],
    ['a pod that is ready to its end', 'never said', pods({ sightings: [ready, taken, ready, taken] })],
    ['a pod that refuses while ready', 'refused a call', pods({ sightings: [ready, refused, unready, takenLast] })],
    ['a pod that refuses at once', 'refused a call', pods({ sightings: [ready, taken, unready, refused] })],
    ['a broken connection', 'connection: ECONNRESET', pods({ sightings: [ready, taken, unready, reset] })],
    ['an end that was not told', 'did not tell', pods({ sightings: [ready, taken, unready, taken] })],
    ['an answer that broke behind the balancer', 'end as SD', { balanced: [{ ...request, end: 'SD' }] }],
    ['a client that gave up on something else', 'end as CD', { balanced: [{ ...request, end: 'CD' }] }],
    ['a second attempt', '1 retries', { balanced: [{ ...request, retries: 1 }] }],
    ['a call that is not booked', 'booked 0 times, should 1', { ledger: [] }],
    ['a call that is booked twice', 'booked 2 times', { ledger: [...good.ledger, ...good.ledger] }],
    ['a call that nobody made', 'x: booked 1 times, should 0', booked('x', 'complete')],
    ['a call that is booked in part', 'booked as partial', { ledger: [{ request_id: 'a', outcome: 'partial' }] }],
    ['a lock', 'lk:{r}:e is left', { left: { ...good.left, locks: ['lk:{r}:e'] } }],
    ['a reservation', 'reservedMicroUsd is 1', { left: { ...good.left, reservedMicroUsd: 1 } }],
    ['a waiting call', 'queued is 2', { left: { ...good.left, queued: 2 } }],
  ])('finds %s', (_, fault, run) => {
    expect(rolloutFaults({ ...good, ...run })).toContainEqual(expect.stringContaining(fault));
  });
});

function calls(difference: Partial<RolledCall>): Partial<RolledRun> {
  return { calls: [{ ...call, ...difference }] };
}

function pods(difference: Partial<PodEnd>): Partial<RolledRun> {
  return { pods: [{ ...pod, ...difference }] };
}

function booked(id: string, outcome: string): Partial<RolledRun> {
  return { ledger: [...good.ledger, { request_id: id, outcome }] };
}
