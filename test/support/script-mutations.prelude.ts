/** One rule of a lock script, broken in its text. */
export interface ScriptMutation {
  readonly rule: string;
  readonly script: 'prelude' | 'acquire' | 'beat' | 'leave' | 'revoke' | 'inspect';
  /** Stands in the script exactly once. */
  readonly from: string;
  readonly to: string;
}

type Change = readonly [rule: string, from: string, to: string];

export const of = (script: ScriptMutation['script'], changes: readonly Change[]): readonly ScriptMutation[] =>
  changes.map(([rule, from, to]) => ({ rule, script, from, to }));

export const PRELUDE_MUTATIONS: readonly ScriptMutation[] = of('prelude', [
  ['fences are counted without the clock', 'math.max(counter + 1, us)', 'counter + 1'],
  ['fences are the clock alone', 'math.max(counter + 1, us)', 'us'],
  ['a time inside of a text has 14 digits', "return string.format('%.0f', number)", "return number .. ''"],
  ['the counter is never forgotten', 'us >= endsAt + MEMORY_MS * 1000', 'us < 0'],
  [
    'the counter is forgotten at rest',
    "call('HSET', HASH, 'c', counter, 'x', us)",
    "call('HSET', HASH, 'c', 0, 'x', us)",
  ],
  ['the end of entries is not looked at', 'or not saved[3] or us >= endsAt', 'or not saved[3]'],
  ['entries that outlived their end are met again', 'isForgotten or (isAtRest and saved[3])', 'isForgotten and us < 0'],
  ['a description is cut', '([^|]*)|(.*)$', '([^|]*)|(.?)'],
  ['the last capacity is found', 'smallest = math.min(smallest, entry and', 'smallest = math.max(0, entry and'],
  ['the first capacity is found', 'if smallest <= least then', 'if smallest > 0 then'],
  ['only some holders are looked at for their capacity', 'until #tokens < step', 'until true'],
  ['the capacity of who left still counts', 'isCapacityOver or entry.capacity == capacity', 'false'],
  ['the largest capacity wins', 'math.min(entry.capacity, capacityHeld())', 'math.max(entry.capacity, capacity)'],
  ['the last capacity wins', 'math.min(entry.capacity, capacityHeld())', 'entry.capacity'],
  ['who is let in leaves the capacity as it is', 'lock.weight + share, smaller', 'lock.weight + share, capacity'],
  [
    'who is refused leaves its capacity',
    'if lock.weight + share > smaller then',
    'if lock.weight + share > smaller then\n      capacity = smaller',
  ],
  [
    'the capacity of the last to leave still counts',
    'lock.weight, capacity, isCapacityOver = 0, math.huge, false',
    'lock.weight, isCapacityOver = 0, false',
  ],
  ['time follows the clock back', 'math.max(us + tonumber(saved[5]), last)', 'us + tonumber(saved[5])'],
  ['the offset of the clock is forgotten', 'us + tonumber(saved[5])', 'us'],
  ['the time in which the store stood still counts', 'math.min(blind, DAMP_MS * 1000)', '0'],
  ['all the time in which the store stood still is forgiven', 'math.min(blind, DAMP_MS * 1000)', 'blind'],
  ['time stands still although nobody waits', 'if isQueued and blind > 0 then', 'if blind > 0 then'],
  [
    'a renewal may shorten a lease',
    "math.max(tonumber(call('ZSCORE', HOLDERS, token)), time + milliseconds * 1000)",
    'time + milliseconds * 1000',
  ],
  [
    'a lease is counted from the clock',
    "call('ZADD', HOLDERS, time + milliseconds * 1000, token)",
    "call('ZADD', HOLDERS, us + milliseconds * 1000, token)",
  ],
  ['a sign of life is noted by the clock', "call('ZADD', ALIVE, time, process)", "call('ZADD', ALIVE, us, process)"],
  ['nobody is told', "redis.pcall('PUBLISH', ARGV[1] .. process, message)", 'return ARGV[1] .. message'],
  ['everybody is told on one channel', 'ARGV[1] .. process, message', 'ARGV[1], message'],
  [
    'the next expiry may be past',
    'math.max(0, math.ceil((tonumber(first[2]) - time) / 1000))',
    'math.ceil((tonumber(first[2]) - time) / 1000) - 1',
  ],
  ['who leaves keeps its share', 'lock.weight = lock.weight - entry.weight', 'lock.weight = lock.weight'],
  [
    'who leaves keeps its entry',
    "lock.weight = lock.weight - entry.weight\n      call('HDEL', HASH, 'e:' .. token)",
    'lock.weight = lock.weight - entry.weight',
  ],
  [
    'a waiter that goes keeps its entry',
    "call('ZREM', WAITERS, token)\n    call('HDEL', HASH, 'e:' .. token)",
    "call('ZREM', WAITERS, token)",
  ],
  ['more is let in than fits', 'if lock.weight + share > smaller then', 'if lock.weight > smaller then'],
  ['who asks for more than there is waits for ever', 'math.min(entry.weight, smaller)', 'entry.weight'],
  ['leases do not end', 'if tonumber(first[2]) > time then', 'if tonumber(first[2]) > 0 then'],
  ['a lease ends a moment late', 'if tonumber(first[2]) > time then', 'if tonumber(first[2]) > time - 1000000 then'],
  ['the dead are let in', 'if not entry or not isAlive(entry.process) then', 'if not entry then'],
  [
    'the dead live twice as long',
    'time - tonumber(seen) <= ALIVE_MS * 1000',
    'time - tonumber(seen) <= 2 * ALIVE_MS * 1000',
  ],
  [
    'a dead waiter blocks those behind it',
    'lock.forget(token)\n      return true',
    'lock.forget(token)\n      return false',
  ],
  [
    'the last to come is the first to be let in',
    "call('ZRANGE', WAITERS, 0, 0)[1]",
    "call('ZRANGE', WAITERS, -1, -1)[1]",
  ],
  ['a grant looks like a hold', "entry.state = 'p'", "entry.state = 'h'"],
  ['a grant has more time than it is told', 'lock.enter(token, entry, GRANT_MS)', 'lock.enter(token, entry, 30000)'],
  [
    'a grant is told more time than it has',
    'entry.fence, GRANT_MS)\n    return true',
    'entry.fence, 2 * GRANT_MS)\n    return true',
  ],
  ['who was let in still waits', "call('ZREM', WAITERS, token)\n    lock.tell", 'lock.tell'],
  [
    'one waiter is let in at a time',
    'if not admitFirst() then\n        return\n      end',
    'admitFirst()\n      if true then return end',
  ],
  ['nothing is taken out before others are let in', '    reap()\n    for _', '    for _'],
  ['a queue is forgotten with the last lease', 'time + queued * QUEUE_MS * 1000', 'time'],
  ['the end is forgotten', "'x', us + leftMs * 1000, 'w', lock.weight", "'x', us, 'w', lock.weight"],
  ['the weight is forgotten', "'w', lock.weight,", "'w', 0,"],
  ['the capacity is forgotten', "'cap', smallest,", "'cap', 1,"],
  ['that somebody waits is forgotten', "'t', time,\n      'q', queued)", "'t', time,\n      'q', '0' and 0)"],
  [
    'the hash is kept no longer than its entries',
    "call('PEXPIRE', HASH, leftMs + MEMORY_MS)",
    "call('PEXPIRE', HASH, leftMs)",
  ],
  ['the hash is kept for ever', "call('PEXPIRE', HASH, leftMs + MEMORY_MS)", ''],
  ['holders are kept for ever', "call('PEXPIRE', HOLDERS, leftMs)", ''],
  ['waiters are kept for ever', "call('PEXPIRE', WAITERS, leftMs)", ''],
  ['signs of life are kept for ever', "call('PEXPIRE', ALIVE, leftMs)", ''],
  [
    'signs of life outlive the queue',
    "if queued == 0 then\n      return call('DEL', ALIVE)\n    end",
    'if queued == 0 then\n      return\n    end',
  ],
  ['processes that are long gone are remembered', "call('ZREMRANGEBYSCORE', ALIVE, 0, time - MEMORY_MS * 1000)", ''],
]);
