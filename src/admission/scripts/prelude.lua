-- What the scripts of admission share. It stands behind now() and in front of each of them: a script opens the scope, changes it,
-- and finishes. The numbers are those of admission.limits.ts; a spec compares them. Times are milliseconds.
-- KEYS[1] state: hash; s the numbers below and the process that pumps, w<window> those of a window
-- KEYS[2] budgets: hash; <unit>:<period> = number of the period|spent
-- KEYS[3] records: hash; id = W waiting, G granted or X cancelled before it came, and what belongs to it separated by bars
-- KEYS[4] leases: ids by the end of their lease
-- KEYS[5] queue: flow:number:id, all with score 0, so that a flow's first comes first
-- KEYS[6] flows that wait, by their tags: the start-time fair queue
-- KEYS[7] flows that wait: hash; flow = calls|tokens|weight
-- KEYS[8] flows of this era: hash; flow = tag|mean duration of its calls. An era is the longest window, at least a minute.
-- KEYS[9] flows of the era before
-- KEYS[10..] calendars by the order of the windows: a ring of buckets, each with requests and tokens that are released in it, then
--            the sums of groups of buckets, all 32-bit numbers
local RING, GROUP, GROUPS, ROUNDS, CROWD, BACKLOG, SPARSE = 640, 10, 64, 64, 128, 4, 8
local PUMPER_MS, TOMBSTONE_MS, ERA_MS, SLACK_MS, BUDGET_MS, GUESS_MS = 1500, 30000, 60000, 60000, 3456000000, 1000

local call = redis.call
local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge
local STATE, BUDGETS, RECORDS, LEASES, QUEUE, ACTIVE, FLOWS, RECENT, FORMER = unpack(KEYS, 1, 9)
local PROCESS = ARGV[2]

-- The rules: how tokens count, slots, look-ahead in ms, windows, budgets.
local tokenRule, slotsText, lookAheadText, windowsText, budgetsText =
  string.match(ARGV[1], '^(%a+)|(%d*)|(%d+)|([^|]*)|(.*)$')
local slots, lookAheadMs = tonumber(slotsText) or huge, tonumber(lookAheadText)

local NUMBERS = { 'time', 'offset', 'open', 'virtual', 'number', 'queued', 'queuedTokens', 'meanMs', 'pumperUntil', 'pumpAt',
  'lastAt', 'heldUntil', 'leasesUntil', 'era', 'microUsd', 'tokens' }
local WINDOW_NUMBERS = { 'requests', 'due', 'held', 'rolled', 'paceRequests', 'paceTokens', 'pacedUntil', 'learnedRequests',
  'learnedTokens', 'learnedUntil' }
local FORMAT, WINDOW_FORMAT = '>' .. string.rep('d', #NUMBERS) .. 's', '>' .. string.rep('d', #WINDOW_NUMBERS)

local s, windows, budgets, eraMs = { pumper = '' }, {}, {}, ERA_MS
local notices, written, isBooked, isNew = {}, {}, false, false

-- Lua itself writes 14 digits: whole numbers, and those that must be read as they were.
local function text(number)
  return string.format('%.0f', number)
end
local function exact(number)
  return string.format('%.17g', number)
end

local function write(key)
  written[key] = true
  return key
end

-- Calendars ------------------------------------------------------------------------------------------------------------------------

local function slot(w, index)
  w.ring = w.ring or call('GET', w.calendar) or ''
  local from = index * 4 + 1
  return from + 3 > #w.ring and 0 or (struct.unpack('>i4', w.ring, from))
end

-- Charges of the window that are released in the bucket.
local function add(w, bucket, requests, tokens)
  w.requests, w.due = w.requests + requests, w.due + tokens
  local fine, group = 2 * (bucket % RING), 2 * RING + 2 * (floor(bucket / GROUP) % GROUPS)
  local steps = {}
  for offset, amount in pairs({ [0] = requests, [1] = tokens }) do
    if amount ~= 0 then
      for _, index in ipairs({ fine + offset, group + offset }) do
        for _, word in ipairs({ 'INCRBY', 'i32', '#' .. index, amount }) do
          steps[#steps + 1] = word
        end
      end
    end
  end
  if #steps > 0 then
    call('BITFIELD', write(w.calendar), unpack(steps))
    w.ring, w.near = nil, nil
  end
end

-- Releases what is over; what was not rolled for a whole ring is over altogether.
local function roll(w)
  local from, bucket = w.rolled, floor(s.time / w.bucketMs)
  w.rolled = bucket
  if bucket - from >= RING then
    w.requests, w.due = 0, 0
    call('DEL', w.calendar)
  elseif bucket > from and (w.requests ~= 0 or w.due ~= 0) then
    local over = {}
    local function collect(index)
      local amount = slot(w, index)
      over[#over + 1] = amount ~= 0 and index or nil
      return amount
    end
    for at = from + 1, bucket do
      w.requests = w.requests - collect(2 * (at % RING))
      w.due = w.due - collect(2 * (at % RING) + 1)
    end
    for group = floor(from / GROUP), floor(bucket / GROUP) - 1 do
      collect(2 * RING + 2 * (group % GROUPS))
      collect(2 * RING + 2 * (group % GROUPS) + 1)
    end
    for _, index in ipairs(over) do
      call('SETRANGE', write(w.calendar), index * 4, '\0\0\0\0')
      w.ring = nil
    end
  end
end

-- When so many requests, and so many tokens, will have been released; nil: the calendar does not know of so many.
local function released(w, requests, tokens)
  local atRequests, atTokens = requests <= 0 and s.time or nil, tokens <= 0 and s.time or nil
  local sumRequests, sumTokens = 0, 0
  local function look(from, to)
    for bucket = from, to do
      local index = 2 * (bucket % RING)
      sumRequests, sumTokens = sumRequests + slot(w, index), sumTokens + slot(w, index + 1)
      atRequests = atRequests or sumRequests >= requests and bucket * w.bucketMs or nil
      atTokens = atTokens or sumTokens >= tokens and bucket * w.bucketMs or nil
    end
  end
  local group = floor((w.rolled + 1) / GROUP)
  local last = floor((w.rolled + ceil((w.spanMs + lookAheadMs) / w.bucketMs) + 1) / GROUP)
  if not (atRequests and atTokens) then
    look(w.rolled + 1, group * GROUP + GROUP - 1)
  end
  while not (atRequests and atTokens) and group < last do
    group = group + 1
    local index = 2 * RING + 2 * (group % GROUPS)
    local nextRequests, nextTokens = sumRequests + slot(w, index), sumTokens + slot(w, index + 1)
    if not atRequests and nextRequests >= requests or not atTokens and nextTokens >= tokens then
      look(group * GROUP, group * GROUP + GROUP - 1)
    end
    sumRequests, sumTokens = nextRequests, nextTokens
  end
  return atRequests, atTokens
end

-- The same within the look-ahead, read once.
local function releasedSoon(w, requests, tokens)
  if requests <= 0 and tokens <= 0 then
    return s.time
  end
  if not w.near then
    w.near = {}
    local sumRequests, sumTokens = 0, 0
    for bucket = w.rolled + 1, floor((s.time + lookAheadMs) / w.bucketMs) do
      local index = 2 * (bucket % RING)
      sumRequests, sumTokens = sumRequests + slot(w, index), sumTokens + slot(w, index + 1)
      w.near[#w.near + 1] = { sumRequests, sumTokens, bucket * w.bucketMs }
    end
  end
  for _, sum in ipairs(w.near) do
    if sum[1] >= requests and sum[2] >= tokens then
      return sum[3]
    end
  end
  return nil
end

-- Windows --------------------------------------------------------------------------------------------------------------------------

-- Earliest by the pacer, with so much before it.
local function paced(w, requests, tokens)
  local burstMs = s.time < w.pacedUntil and 0 or w.burstMs
  if burstMs >= w.windowMs then
    return 0, 0
  end
  return w.requestLimit < huge and ceil(w.paceRequests + requests * w.windowMs / w.requestLimit - burstMs) or 0,
    w.tokenLimit < huge and ceil(w.paceTokens + tokens * w.windowMs / w.tokenLimit - burstMs) or 0
end

-- When a call has room in all windows, if that is within the look-ahead.
local function soon(tokens)
  local at = max(s.time, s.lastAt, s.heldUntil)
  for _, w in ipairs(windows) do
    local time = releasedSoon(w, w.requests + 1 - w.requestLimit, w.due + w.held + tokens - w.tokenLimit)
    if not time then
      return nil
    end
    at = max(at, time, paced(w, 0, 0))
  end
  return at <= s.time + lookAheadMs and at or nil
end

-- What must be released first, after so many whole windows: the calendar repeats itself.
local function fold(used, needed, limit)
  local excess, rounds = used + needed - limit, 0
  if excess > used then
    rounds = ceil((excess - used) / limit)
    excess = excess - rounds * limit
  end
  return excess, rounds
end

-- When a call of so many tokens has room behind so many calls and tokens; then the rule that says so, and whether that is exact.
local function roomAt(tokens, callsBefore, tokensBefore)
  local at, rule, isExact = max(s.time, s.lastAt), 'hold', true
  local function later(time, name, known)
    if time > at then
      at, rule, isExact = time, name, known
    end
  end
  later(s.heldUntil, 'hold', true)
  for _, w in ipairs(windows) do
    local needed, rounds = fold(w.requests, callsBefore + 1, w.requestLimit)
    local neededTokens, roundsOfTokens = fold(w.due + w.held, tokensBefore + tokens, w.tokenLimit)
    local time, timeOfTokens = released(w, needed, neededTokens)
    local pace, paceOfTokens = paced(w, callsBefore, tokensBefore)
    later(max((time or s.time + w.spanMs) + rounds * w.spanMs, pace), 'requests:' .. w.windowMs, true)
    local tokensAt = (timeOfTokens or s.time + w.spanMs) + roundsOfTokens * w.spanMs
    later(max(tokensAt, paceOfTokens), 'tokens:' .. w.windowMs, timeOfTokens ~= nil)
  end
  return at, rule, isExact
end

-- The share of what is scarcest that so many calls take, as a time.
local function costOf(calls, tokens, durationMs)
  local cost = durationMs / slots
  for _, w in ipairs(windows) do
    cost = max(cost, calls * w.windowMs / w.requestLimit, tokens * w.windowMs / w.tokenLimit)
  end
  return cost
end

-- Flows ----------------------------------------------------------------------------------------------------------------------------

-- What is known of a flow: the tag that it left with, and the mean duration of its calls.
local function historyOf(flow)
  local value = call('HGET', RECENT, flow) or call('HGET', FORMER, flow)
  if not value then
    return 0, 0
  end
  local tag, meanMs = string.match(value, '^([^|]*)|(.*)$')
  return tonumber(tag), tonumber(meanMs)
end

local function remember(flow, tag, meanMs)
  call('HSET', write(RECENT), flow, exact(tag) .. '|' .. exact(meanMs))
end

-- What its calls are expected to take of the slots.
local function expected(meanMs)
  return slots == huge and 0 or meanMs > 0 and meanMs or s.meanMs
end

local function queueOf(flow)
  local calls, tokens, weight = string.match(call('HGET', FLOWS, flow) or '0|0|1', '^(%d+)|(%d+)|(.*)$')
  return tonumber(calls), tonumber(tokens), weight
end

local function saveQueue(flow, calls, tokens, weight)
  call('HSET', write(FLOWS), flow, text(calls) .. '|' .. text(tokens) .. '|' .. weight)
end

-- One waiter leaves the queue; `tag` is the flow's from now on.
local function dequeue(entry, id, tag)
  call('ZREM', write(QUEUE), entry.flow .. ':' .. entry.number .. ':' .. id)
  s.queued, s.queuedTokens = s.queued - 1, s.queuedTokens - entry.tokens
  local calls, tokens, weight = queueOf(entry.flow)
  if calls > 1 then
    saveQueue(entry.flow, calls - 1, tokens - entry.tokens, weight)
    call('ZADD', write(ACTIVE), tag, entry.flow)
    return
  end
  call('HDEL', write(FLOWS), entry.flow)
  call('ZREM', write(ACTIVE), entry.flow)
  local _, meanMs = historyOf(entry.flow)
  remember(entry.flow, tag, meanMs)
end

-- Corrects what a flow was charged, and learns how long its calls take.
local function correct(entry, cost, durationMs)
  local active = call('ZSCORE', ACTIVE, entry.flow)
  local tag, meanMs = historyOf(entry.flow)
  if durationMs and slots ~= huge then
    s.meanMs = s.meanMs == 0 and durationMs or s.meanMs * 0.95 + durationMs * 0.05
    meanMs = meanMs == 0 and durationMs or meanMs * 0.9 + durationMs * 0.1
  elseif cost == entry.cost then
    return
  end
  local delta = (cost - entry.cost) / entry.weight
  if active then
    call('ZADD', write(ACTIVE), tonumber(active) + delta, entry.flow)
  end
  remember(entry.flow, max(tag, s.virtual) + delta, meanMs)
end

-- Records --------------------------------------------------------------------------------------------------------------------------

-- W|flow|weight|tokens|process|microUsd|leaseMs|deadline|number|expected at|rule
-- G|flow|weight|tokens|process|microUsd|leaseMs|at|cost|token rule|windows
local function entryOf(id)
  local value = call('HGET', RECORDS, id)
  if not value then
    return nil
  end
  local f = {}
  for part in string.gmatch(value, '[^|]+') do
    f[#f + 1] = part
  end
  local entry = { state = f[1], flow = f[2], weight = tonumber(f[3]), weightText = f[3], tokens = tonumber(f[4]), process = f[5],
    microUsd = tonumber(f[6]), leaseMs = tonumber(f[7]) }
  if entry.state == 'W' then
    entry.deadline, entry.number, entry.at, entry.rule = tonumber(f[8]), f[9], tonumber(f[10]), f[11]
  elseif entry.state == 'G' then
    entry.at, entry.cost, entry.tokenRule, entry.windows = tonumber(f[8]), tonumber(f[9]), f[10], f[11]
  end
  return entry
end

local function save(id, entry, ...)
  call('HSET', write(RECORDS), id, table.concat({ entry.state, entry.flow, entry.weightText, text(entry.tokens), entry.process,
    text(entry.microUsd), text(entry.leaseMs), ... }, '|'))
end

local function lease(id, untilMs)
  call('ZADD', write(LEASES), untilMs, id)
  s.leasesUntil = max(s.leasesUntil, untilMs)
end

local function drop(id)
  call('HDEL', write(RECORDS), id)
  call('ZREM', write(LEASES), id)
end

local function reserve(entry, sign)
  s.microUsd, s.tokens = s.microUsd + sign * entry.microUsd, s.tokens + sign * entry.tokens
end

-- at: a time, or -1 where it waits no longer.
local function tell(process, id, at)
  notices[process] = notices[process] or {}
  table.insert(notices[process], { id, at })
end

local function grant(id, entry, at, tag)
  local _, meanMs = historyOf(entry.flow)
  local cost, names = costOf(1, entry.tokens, expected(meanMs)), {}
  local isScheduled = tokenRule == 'adm' or tokenRule == 'own'
  for index, w in ipairs(windows) do
    add(w, ceil((at + w.spanMs) / w.bucketMs), 1, isScheduled and entry.tokens or 0)
    w.held = w.held + (isScheduled and 0 or entry.tokens)
    w.paceRequests = max(w.paceRequests, at) + w.windowMs / w.requestLimit
    w.paceTokens = max(w.paceTokens, at) + entry.tokens * w.windowMs / w.tokenLimit
    names[index] = w.name
  end
  s.open, s.virtual, s.lastAt = s.open + 1, max(s.virtual, tag), at
  entry.state = 'G'
  save(id, entry, text(at), exact(cost), tokenRule, table.concat(names, '+'))
  lease(id, at + entry.leaseMs)
  return tag + cost / entry.weight
end

-- Each window that the grant was charged on: change() of one that this command has, held tokens given back in any other.
local function eachCharged(entry, change)
  local known = {}
  for _, w in ipairs(windows) do
    known[w.name] = w
  end
  for name in string.gmatch(entry.windows or '', '[^+]+') do
    local w = known[name]
    if w then
      change(w, ceil((entry.at + w.spanMs) / w.bucketMs))
    elseif entry.tokenRule == 'safe' or entry.tokenRule == 'cmp' then
      local packed = call('HGET', STATE, 'w' .. name)
      local numbers = packed and { struct.unpack(WINDOW_FORMAT, packed) }
      if numbers then
        numbers[3] = numbers[3] - entry.tokens
        call('HSET', STATE, 'w' .. name, struct.pack(WINDOW_FORMAT, unpack(numbers, 1, #WINDOW_NUMBERS)))
      end
    end
  end
end

-- What a call takes once it has ended.
local function charge(w, entry, tokens, endedAt, releasedIn)
  local endsIn, isCharged = ceil((endedAt + w.spanMs) / w.bucketMs), releasedIn > w.rolled
  local rule, change = entry.tokenRule, tokens - entry.tokens
  local rest = 0
  if rule == 'adm' then
    rest = max(0, change)
  elseif rule == 'own' then
    add(w, releasedIn, 0, isCharged and change or 0)
  else
    w.held, rest = w.held - entry.tokens, tokens
    add(w, releasedIn, 0, rule == 'safe' and isCharged and max(0, -change) or 0)
  end
  add(w, endsIn, 0, endsIn > w.rolled and rest or 0)
  if rule == 'own' or rule == 'cmp' then
    w.paceTokens = w.paceTokens + change * w.windowMs / w.tokenLimit
  end
end

local function book(microUsd, tokens)
  for _, budget in ipairs(budgets) do
    budget.spent = budget.spent + (budget.unit == 'usd' and microUsd or tokens)
  end
  isBooked = isBooked or microUsd > 0 or tokens > 0
end

local function settle(id, entry, tokens, microUsd, endedAt)
  drop(id)
  s.open = s.open - 1
  reserve(entry, -1)
  book(microUsd, tokens)
  eachCharged(entry, function(w, releasedIn)
    charge(w, entry, tokens, endedAt, releasedIn)
  end)
  local isRefunded = entry.tokenRule == 'own' or entry.tokenRule == 'cmp'
  local durationMs = max(0, endedAt - entry.at)
  correct(entry, costOf(1, isRefunded and tokens or max(tokens, entry.tokens), durationMs), durationMs)
end

-- As if it had never been granted.
local function undo(id, entry)
  drop(id)
  s.open = s.open - 1
  reserve(entry, -1)
  local isScheduled = entry.tokenRule == 'adm' or entry.tokenRule == 'own'
  eachCharged(entry, function(w, releasedIn)
    if releasedIn > w.rolled then
      add(w, releasedIn, -1, isScheduled and -entry.tokens or 0)
    end
    w.held = w.held - (isScheduled and 0 or entry.tokens)
    w.paceRequests = w.paceRequests - w.windowMs / w.requestLimit
    w.paceTokens = w.paceTokens - entry.tokens * w.windowMs / w.tokenLimit
  end)
  correct(entry, 0, nil)
end

local function abandon(id, entry)
  drop(id)
  reserve(entry, -1)
  dequeue(entry, id, tonumber(call('ZSCORE', ACTIVE, entry.flow)))
end

-- The scope ------------------------------------------------------------------------------------------------------------------------

-- Days and months since some day, by the calendar of UTC (Howard Hinnant, chrono-compatible low-level date algorithms).
local function periodOf(name)
  local day = floor(s.time / 86400000)
  if name == 'day' then
    return day
  end
  local shifted = day + 719468
  local era = floor(shifted / 146097)
  local inEra = shifted - era * 146097
  local year = floor((inEra - floor(inEra / 1460) + floor(inEra / 36524) - floor(inEra / 146096)) / 365)
  local inYear = inEra - (365 * year + floor(year / 4) - floor(year / 100))
  return (era * 400 + year) * 12 + floor((5 * inYear + 2) / 153)
end

local function readBudgets()
  for unit, period, limit in string.gmatch(budgetsText, '(%a+),(%a+),(%d+);') do
    budgets[#budgets + 1] = { name = unit .. ':' .. period, unit = unit, limit = tonumber(limit), period = periodOf(period), spent = 0 }
  end
  for _, budget in ipairs(budgets) do
    local period, spent = string.match(call('HGET', BUDGETS, budget.name) or '-1|0', '^(-?%d+)|(%d+)$')
    if tonumber(period) >= budget.period then
      budget.period, budget.spent = tonumber(period), tonumber(spent)
    end
    budget.before = budget.spent
  end
end

-- A window that is new to a scope that is not, or to a scope that was known, starts at its pace.
local function readWindow(w, packed, isLost)
  local numbers = packed and { struct.unpack(WINDOW_FORMAT, packed) }
  for index, name in ipairs(WINDOW_NUMBERS) do
    w[name] = numbers and numbers[index] or 0
  end
  if not numbers then
    call('DEL', w.calendar)
    w.rolled = floor(s.time / w.bucketMs)
    if isLost then
      w.pacedUntil = s.time + w.spanMs
    end
  end
  if w.learnedUntil > s.time then
    w.requestLimit, w.tokenLimit = min(w.requestLimit, w.learnedRequests), min(w.tokenLimit, w.learnedTokens)
  end
  roll(w)
end

local function readTime()
  local ms = floor(now() / 1000)
  s.offset = max(s.offset, s.time - ms)
  s.time = ms + s.offset
  local era = floor(s.time / eraMs)
  if era ~= s.era then
    call('DEL', FORMER)
    if era == s.era + 1 and call('EXISTS', RECENT) == 1 then
      call('RENAME', RECENT, FORMER)
    else
      call('DEL', RECENT)
    end
    s.era = era
  end
end

-- Ends what nobody gives signs of life for: what was granted is settled as it was estimated.
local function sweep()
  local over = call('ZRANGEBYSCORE', LEASES, '-inf', s.time, 'WITHSCORES', 'LIMIT', 0, ROUNDS)
  for index = 1, #over, 2 do
    local id = over[index]
    local entry = entryOf(id)
    if entry and entry.state == 'G' then
      settle(id, entry, entry.tokens, entry.microUsd, tonumber(over[index + 1]))
    elseif entry and entry.state == 'W' then
      abandon(id, entry)
      tell(entry.process, id, -1)
    else
      drop(id)
    end
  end
  if #over > 0 then
    s.pumpAt = s.time
  end
end

-- Everything of the scope, at this time.
local function open()
  local fields = { 's' }
  for name, windowMs, spanMs, bucketMs, burstMs, requests, tokens in
    string.gmatch(windowsText, '((%d+)/(%d+)/(%d+)),(%d+),(%d*),(%d*);') do
    local w = { name = name, windowMs = tonumber(windowMs), spanMs = tonumber(spanMs), bucketMs = tonumber(bucketMs),
      burstMs = tonumber(burstMs), requestLimit = tonumber(requests) or huge, tokenLimit = tonumber(tokens) or huge }
    w.mostRequests, w.mostTokens, w.calendar = w.requestLimit, w.tokenLimit, KEYS[10 + #windows]
    windows[#windows + 1], fields[#fields + 1], eraMs = w, 'w' .. name, max(eraMs, w.spanMs)
  end
  local saved = call('HMGET', STATE, unpack(fields))
  local numbers = saved[1] and { struct.unpack(FORMAT, saved[1]) }
  for index, name in ipairs(NUMBERS) do
    s[name] = numbers and numbers[index] or 0
  end
  isNew = not numbers
  if isNew then
    call('DEL', STATE, RECORDS, LEASES, QUEUE, ACTIVE, FLOWS, RECENT, FORMER)
    saved = {}
  else
    s.pumper = numbers[#NUMBERS + 1]
  end
  readTime()
  for index, w in ipairs(windows) do
    readWindow(w, saved[index + 1], not isNew or ARGV[5] == '1')
  end
  readBudgets()
end

-- True where the first waiter was let in, or was let go: then the next one is first.
local function admitFirst()
  local first = call('ZRANGE', ACTIVE, 0, 0, 'WITHSCORES')
  local flow, tag = first[1], tonumber(first[2])
  local member = call('ZRANGEBYLEX', QUEUE, '[' .. flow .. ':', '(' .. flow .. ';', 'LIMIT', 0, 1)[1]
  local id = string.match(member, '^[^:]*:[^:]*:(.*)$')
  local entry = entryOf(id)
  local isTooLarge = false
  for _, w in ipairs(windows) do
    isTooLarge = isTooLarge or entry.tokens > w.tokenLimit
  end
  if isTooLarge or entry.deadline < s.time then
    abandon(id, entry)
    tell(entry.process, id, -1)
    return true
  end
  if s.open >= slots then
    s.pumpAt = tonumber(call('ZRANGE', LEASES, 0, 0, 'WITHSCORES')[2])
    return false
  end
  local at = soon(entry.tokens)
  if not at then
    s.pumpAt = max(roomAt(entry.tokens, 0, 0) - lookAheadMs, s.time + max(1, floor(lookAheadMs / 2)))
    return false
  end
  dequeue(entry, id, grant(id, entry, at, tag))
  tell(entry.process, id, at)
  return true
end

-- Lets in whose time has come, in the order of the flows' tags.
local function pump()
  for _ = 1, ROUNDS do
    if s.queued == 0 or not admitFirst() then
      return
    end
  end
  s.pumpAt = s.time + 1
end

local function tellOthers()
  for process, list in pairs(notices) do
    if process ~= PROCESS then
      local words = {}
      for index, notice in ipairs(list) do
        words[index] = notice[1] .. '=' .. text(notice[2])
      end
      -- A refused publish (rights on the channel) must not break the script in its midst; a beat finds the grant.
      redis.pcall('PUBLISH', ARGV[3] .. process, text(s.time) .. '|' .. table.concat(words, ',') .. '|' .. ARGV[4])
    end
  end
end

-- Key expiry only collects garbage; a reservation of money is kept until somebody can book it.
local function writeBack()
  local longestMs = eraMs
  local isOpen = s.open + s.queued > 0
  local keepMs = max(2 * longestMs + SLACK_MS, s.leasesUntil - s.time + SLACK_MS, isOpen and #budgets > 0 and BUDGET_MS or 0)
  local fields = { 's' }
  local numbers = {}
  for index, name in ipairs(NUMBERS) do
    numbers[index] = s[name]
  end
  numbers[#numbers + 1] = s.pumper
  fields[2] = struct.pack(FORMAT, unpack(numbers))
  for _, w in ipairs(windows) do
    for index, name in ipairs(WINDOW_NUMBERS) do
      numbers[index] = w[name]
    end
    fields[#fields + 1] = 'w' .. w.name
    fields[#fields + 1] = struct.pack(WINDOW_FORMAT, unpack(numbers, 1, #WINDOW_NUMBERS))
  end
  call('HSET', write(STATE), unpack(fields))
  for key in pairs(written) do
    call('PEXPIRE', key, text(keepMs))
  end
  for _, budget in ipairs(isBooked and budgets or {}) do
    call('HSET', BUDGETS, budget.name, text(budget.period) .. '|' .. text(budget.spent))
    call('PEXPIRE', BUDGETS, text(BUDGET_MS))
  end
end

-- Writes everything back and tells who was let in. Gives the beginning of every answer: now, when to pump or -1, number of notices and
-- of each id and time, number of bookings and of each spent before and after.
local function finish()
  if s.queued == 0 then
    s.pumper, s.pumperUntil, s.pumpAt = '', 0, 0
  end
  local isPumper = s.queued > 0 and PROCESS ~= '' and (s.pumper == PROCESS or s.time >= s.pumperUntil)
  if isPumper then
    s.pumper, s.pumperUntil = PROCESS, s.time + PUMPER_MS
  end
  writeBack()
  tellOthers()
  local own = notices[PROCESS] or {}
  local answer = { s.time, isPumper and max(1, s.pumpAt - s.time) or -1, #own }
  for _, notice in ipairs(own) do
    answer[#answer + 1], answer[#answer + 2] = notice[1], notice[2]
  end
  answer[#answer + 1] = isBooked and #budgets or 0
  for _, budget in ipairs(isBooked and budgets or {}) do
    answer[#answer + 1], answer[#answer + 2] = budget.before, budget.spent
  end
  return answer
end

local function append(answer, ...)
  for _, value in ipairs({ ... }) do
    answer[#answer + 1] = value
  end
  return answer
end

-- Of each window what is in use, and the limits in force; -1 for none.
local function appendUsage(answer)
  for _, w in ipairs(windows) do
    append(answer, w.requests, w.requestLimit == huge and -1 or w.requestLimit, w.due + w.held,
      w.tokenLimit == huge and -1 or w.tokenLimit)
  end
  return answer
end
