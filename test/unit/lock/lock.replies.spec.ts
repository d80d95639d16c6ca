import { describe, expect, it } from '@jest/globals';
import { readMessage } from '../../../src/lock/lock.messages.js';
import { readAcquire, readBeat, readInspect, readLeave, readRevoke } from '../../../src/lock/lock.replies.js';

const beat = { key: 'k', process: 'p1', renewals: [{ token: 'p1-1', leaseMs: 1_000 }], waiters: ['p1-2'] };

describe('the replies of the lock scripts', () => {
  it('say what happened', () => {
    expect(readAcquire([0, 7, 9, -1])).toEqual({ kind: 'queued', ticket: 7, counter: 9, nextExpiryMs: undefined });
    expect(readAcquire([-1, 9, 0])).toEqual({ kind: 'busy', counter: 9, nextExpiryMs: 0 });
    expect(readBeat(beat, [9, 50, -1, 1, 8, 1_500])).toEqual({
      counter: 9,
      nextExpiryMs: 50,
      renewals: ['revoked'],
      waiters: [{ kind: 'granted', fence: 8, leftMs: 1_500 }],
    });
    expect([0, 1, 2].map(readLeave)).toEqual(['unknown', 'waiter', 'holder']);
    expect(readInspect('k', [])).toBeUndefined();
  });

  it.each([
    ['acquire', (): unknown => readAcquire('OK')],
    ['acquire', (): unknown => readAcquire([5])],
    ['acquire', (): unknown => readAcquire([1, '7'])],
    ['acquire', (): unknown => readAcquire([1, 2 ** 53])],
    ['beat', (): unknown => readBeat(beat, [9, 50, 1])],
    ['beat', (): unknown => readBeat(beat, [9, 50, 3, 1, 8, 0])],
    ['beat', (): unknown => readBeat(beat, [9, 50, 1, 4, 8, 0])],
    ['leave', (): unknown => readLeave(3)],
    ['revoke', (): unknown => readRevoke(null)],
    ['inspect', (): unknown => readInspect('k', [1, 1, 0, 1, 't', 'z', 1, 1, 'p', '', 5])],
    ['inspect', (): unknown => readInspect('k', [1, 0, 1, 0, 't', 5, 6, ''])],
  ])('of %s that cannot be are refused', (script, read) => {
    expect(read).toThrow(`${script}.lua answered`);
  });
});

describe('readMessage()', () => {
  it('reads grants and revocations of keys under its own prefix', () => {
    const about = { key: 'a|b', token: 'p1-1', fence: 1_764_421_836_000_000 };
    const name = 'x|y:lk:{a%007Cb}';
    expect(readMessage('x|y:', `G|p1-1|1764421836000000|2000|${name}`)).toEqual({
      kind: 'grant',
      ...about,
      leaseMs: 2_000,
    });
    expect(readMessage('x|y:', `V|p1-1|1764421836000000|0|${name}`)).toEqual({ kind: 'revoke', ...about });
    expect(readMessage('other:', `V|p1-1|1764421836000000|0|${name}`)).toBeUndefined();
    expect(readMessage('x|y:', 'hello')).toBeUndefined();
  });
});
