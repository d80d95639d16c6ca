/** One rule of an admission script, broken in its text. */
export interface AdmissionMutation {
  readonly script: 'prelude' | 'acquire' | 'settle' | 'cancel' | 'beat' | 'hold' | 'learn' | 'inspect';
  readonly rule: string;
  /** Stands in the script exactly once. */
  readonly from: string;
  readonly to: string;
}

type Change = readonly [rule: string, from: string, to: string];

const of = (script: AdmissionMutation['script'], changes: readonly Change[]): readonly AdmissionMutation[] =>
  changes.map(([rule, from, to]) => ({ script, rule, from, to }));

/** Each must be told from the rules in memory by what somebody can see of it. */
export const ADMISSION_MUTATIONS: readonly AdmissionMutation[] = [
  ...of('prelude', [
    [
      'releases are rounded down',
      'add(w, ceil((at + w.spanMs) / w.bucketMs), 1,',
      'add(w, floor((at + w.spanMs) / w.bucketMs), 1,',
    ],
    ['a release is not taken off', 'w.requests = w.requests - collect(2 * (at % RING))', 'collect(2 * (at % RING))'],
    ['groups keep their sums', 'for group = floor(from / GROUP), floor(bucket / GROUP) - 1 do', 'for group = 1, 0 do'],
    ['one request more than the limit is let in', 'w.requests + 1 - w.requestLimit,', 'w.requests - w.requestLimit,'],
    [
      'held tokens do not count',
      'w.due + w.held + tokens - w.tokenLimit)\n    if',
      'w.due + tokens - w.tokenLimit)\n    if',
    ],
    [
      'grants may precede earlier ones',
      'local at = max(s.time, s.lastAt, s.heldUntil)',
      'local at = max(s.time, s.heldUntil)',
    ],
    ['a pause is not kept', 'local at = max(s.time, s.lastAt, s.heldUntil)', 'local at = max(s.time, s.lastAt)'],
    ['nothing is paced', 'at = max(at, time, paced(w, 0, 0))', 'at = max(at, time)'],
    ['weights do not count', 'return tag + cost / entry.weight', 'return tag + cost'],
    [
      'a flow that comes back is owed the time it was away',
      's.virtual, s.lastAt = s.open + 1, max(s.virtual, tag), at',
      's.virtual, s.lastAt = s.open + 1, s.virtual, at',
    ],
    ['long calls are not charged to their flow', 'local delta = (cost - entry.cost) / entry.weight', 'local delta = 0'],
    ['safe forgets the estimate at the end', "rule == 'safe' and isCharged and", "rule == 'cmp' and isCharged and"],
    [
      'safe forgets the actual number',
      'w.held, rest = w.held - entry.tokens, tokens',
      'w.held, rest = w.held - entry.tokens, 0',
    ],
    [
      'a bill above its reservation is cut',
      'local function book(microUsd, tokens)',
      'local function book(microUsd, tokens)\n  microUsd = min(microUsd, 900)',
    ],
    ['tokens are booked as money', "(budget.unit == 'usd' and microUsd or tokens)\n", 'microUsd\n'],
    ['a settled call stays reserved', 'reserve(entry, -1)\n  book(', 'book('],
    [
      'a settled call keeps its slot',
      'drop(id)\n  s.open = s.open - 1\n  reserve(entry, -1)\n  book',
      'drop(id)\n  reserve(entry, -1)\n  book',
    ],
    ['an undone call stays a request', 'add(w, releasedIn, -1, isScheduled', 'add(w, releasedIn, 0, isScheduled'],
    [
      'an undone call keeps its slot',
      'drop(id)\n  s.open = s.open - 1\n  reserve(entry, -1)\n  local isScheduled',
      'drop(id)\n  reserve(entry, -1)\n  local isScheduled',
    ],
    ['spent money is carried over', 'if tonumber(period) >= budget.period then', 'if true then'],
    ['time follows the clock back', 's.time = ms + s.offset', 's.time = ms'],
    ['leases do not end', "call('ZRANGEBYSCORE', LEASES, '-inf', s.time,", "call('ZRANGEBYSCORE', LEASES, '-inf', 0,"],
    [
      'what waits too long is let in all the same',
      'if isTooLarge or entry.deadline < s.time then',
      'if isTooLarge then',
    ],
    ['slots are not looked at for who waits', 'if s.open >= slots then', 'if false then'],
    [
      'the last of a flow is let in first',
      "call('ZRANGEBYLEX', QUEUE, '[' .. flow .. ':', '(' .. flow .. ';', 'LIMIT', 0, 1)[1]",
      "call('ZREVRANGEBYLEX', QUEUE, '(' .. flow .. ';', '[' .. flow .. ':', 'LIMIT', 0, 1)[1]",
    ],
    [
      'the flow with the highest tag is let in first',
      "local first = call('ZRANGE', ACTIVE, 0, 0, 'WITHSCORES')",
      "local first = call('ZREVRANGE', ACTIVE, 0, 0, 'WITHSCORES')",
    ],
    ['nobody else is told', "redis.pcall('PUBLISH', ARGV[3] .. process,", "redis.pcall('ECHO', ARGV[3] .. process .."],
    ['state that was lost is no reason for a pace', 'w.pacedUntil = s.time + w.spanMs', 'w.pacedUntil = 0'],
    ['every process pumps', 's.pumper == PROCESS or s.time >= s.pumperUntil', 'true'],
    ['a window that is gone keeps its tokens', 'numbers[3] = numbers[3] - entry.tokens', 'numbers[3] = numbers[3]'],
    ['what was learned is learned for ever', 'if w.learnedUntil > s.time then', 'if w.learnedUntil > 0 then'],
    ['a larger limit is learned', 'min(w.requestLimit, w.learnedRequests)', 'w.learnedRequests'],
  ]),
  ...of('acquire', [
    ['an acquire does not find itself', "if own and own.state == 'G' then", "if own and own.state == 'H' then"],
    [
      'what was cancelled comes back',
      'elseif own then\n    return -3, 0,',
      "elseif own and own.state == 'Y' then\n    return -3, 0,",
    ],
    [
      'what is reserved may be spent twice',
      'budget.spent + reserved + amount > budget.limit',
      'budget.spent + amount > budget.limit',
    ],
    [
      'a spent budget goes on',
      'elseif budget.spent + amount > budget.limit then',
      'elseif budget.spent > budget.limit then',
    ],
    ['who comes passes the queue', 'local at = s.queued == 0 and', 'local at ='],
    ['slots are not looked at for who comes', 'and s.open < slots and soon', 'and soon'],
    ['who is refused waits', 'if expectedAt > s.time + waitMs then', 'if expectedAt > s.time + 10 * waitMs then'],
    ['a grant is not reserved', 'reserve(wanted, 1)\n    return 1, at', 'return 1, at'],
  ]),
  ...of('settle', [
    [
      'a call is settled as long as anybody asks',
      "if entry and entry.state == 'G' then",
      "if entry and entry.state ~= 'X' then",
    ],
    ['settling lets nobody in', 'sweep()\n    pump()', 'sweep()'],
  ]),
  ...of('cancel', [
    ['a cancel is not remembered', "call('HSET', write(RECORDS), id, 'X')", ''],
    ['a waiter is not let go', 'abandon(id, entry)', ''],
  ]),
  ...of('beat', [
    ['a sign of life is none', 'lease(ARGV[index], s.time + entry.leaseMs)', ''],
    ['a sign of life comes too late for who is swept', 'sweep()\npump()\nlocal answer', 'pump()\nlocal answer'],
  ]),
  ...of('hold', [
    ['a shorter pause ends a longer one', 'max(s.heldUntil, s.time + tonumber(ARGV[6]))', 's.time + tonumber(ARGV[6])'],
  ]),
];
