-- Reserves, waits in the queue, or refuses with the rule that does: one after the other, in one scope or several of one hash slot. An
-- id that is known finds itself.
-- KEYS[1] state
-- KEYS[2] budgets
-- KEYS[3] records
-- KEYS[4] leases
-- KEYS[5] queue
-- KEYS[6] flows that wait, by their tags
-- KEYS[7] flows that wait
-- KEYS[8] flows of this era
-- KEYS[9] flows of the era before
-- KEYS[10..] calendars; then the same of the next scope
-- ARGV[1] rules: token rule|slots|look-ahead in ms|window/span/bucket in ms,burst in ms,requests,tokens;...|unit,period,limit;...
-- ARGV[2] process
-- ARGV[3] prefix of channels
-- ARGV[4] name of the scope as JSON
-- ARGV[5] 1 where the process had an answer for this scope lately, else 0|how long ago it last let in by itself in ms, or nothing
-- ARGV[6] how many acquires
-- ARGV[7..] of each its id, flow, weight, tokens, micro-dollars, how long it may wait in ms, lease in ms; then the same of the next scope
-- Returns of each scope {now, when to pump, notices, bookings (see finish() of the prelude)}, then of each acquire
--         {1, at, '' granted | 0, in ms, rule waiting | -1, in ms, rule, 1 exact refused | -2, 0, rule never | -3, 0, '' cancelled
--         before; then of each window requests, their limit, tokens, their limit}
local WORDS = 7
local id, waitMs, wanted

local function read(at)
  id, waitMs = ARGV[at], tonumber(ARGV[at + 5])
  wanted = { state = 'W', flow = ARGV[at + 1], weight = tonumber(ARGV[at + 2]), weightText = ARGV[at + 2],
    tokens = tonumber(ARGV[at + 3]), process = PROCESS, microUsd = tonumber(ARGV[at + 4]), leaseMs = tonumber(ARGV[at + 6]) }
end

local function found()
  local own = entryOf(id)
  if own and own.state == 'G' then
    return 1, own.at, ''
  elseif own and own.state == 'W' then
    return 0, max(0, own.at - s.time), own.rule
  elseif own then
    return -3, 0, ''
  end
end

-- What no time heals, or what only the end of a period or of other calls does.
local function refusal()
  for _, w in ipairs(windows) do
    if wanted.tokens > w.mostTokens then
      return -2, 0, 'tokens:' .. w.windowMs
    elseif wanted.tokens > w.tokenLimit then
      return -1, w.learnedUntil - s.time, 'tokens:' .. w.windowMs, 1
    end
  end
  for _, budget in ipairs(budgets) do
    local isUsd = budget.unit == 'usd'
    local amount, reserved = isUsd and wanted.microUsd or wanted.tokens, isUsd and s.microUsd or s.tokens
    if amount > budget.limit then
      return -2, 0, budget.name
    elseif budget.spent + amount > budget.limit then
      return -1, -1, budget.name, 1
    elseif budget.spent + reserved + amount > budget.limit then
      local first = call('ZRANGE', LEASES, 0, 0, 'WITHSCORES')
      return -1, max(1, tonumber(first[2] or 0) - s.time), budget.name, 0
    end
  end
end

-- What the fair queue puts before a new waiter of this flow: calls and tokens.
local function ahead()
  local calls, tokens = queueOf(wanted.flow)
  if s.queued == calls or call('ZCARD', ACTIVE) > CROWD then
    return s.queued, s.queuedTokens
  end
  local tag = tonumber(call('ZSCORE', ACTIVE, wanted.flow)) or historyOf(wanted.flow)
  local start = max(s.virtual, tag) + costOf(calls, tokens, calls * expected(0)) / wanted.weight
  local active = call('ZRANGEBYSCORE', ACTIVE, '-inf', exact(start), 'WITHSCORES')
  for index = 1, #active, 2 do
    if active[index] ~= wanted.flow then
      local n, k, weight = queueOf(active[index])
      local cost = costOf(n, k, n * expected(0)) / n
      -- Many calls of a flow are taken for a backlog that goes on.
      local most = n >= BACKLOG and huge or SPARSE * n
      local passing = cost == 0 and n or min(most, (start - tonumber(active[index + 1])) * tonumber(weight) / cost + 1)
      calls, tokens = calls + ceil(passing), tokens + passing * k / n
    end
  end
  return calls, tokens
end

local function expectation()
  local callsBefore, tokensBefore = ahead()
  local at, rule, isExact = roomAt(wanted.tokens, callsBefore, tokensBefore)
  if s.open + callsBefore >= slots then
    local slotAt = s.time + (s.open + callsBefore + 1 - slots) / slots * (s.meanMs > 0 and s.meanMs or GUESS_MS)
    if slotAt > at then
      at, rule, isExact = slotAt, 'slots', false
    end
  end
  return ceil(at), rule, isExact and 1 or 0
end

local function enqueue(at, rule)
  s.number = s.number + 1
  local number = string.format('%016.0f', s.number)
  save(id, wanted, text(s.time + waitMs), number, text(at), rule)
  lease(id, s.time + wanted.leaseMs)
  reserve(wanted, 1)
  call('ZADD', write(QUEUE), 0, wanted.flow .. ':' .. number .. ':' .. id)
  local calls, tokens = queueOf(wanted.flow)
  if calls == 0 then
    local tag = historyOf(wanted.flow)
    call('ZADD', write(ACTIVE), max(s.virtual, tag), wanted.flow)
  end
  saveQueue(wanted.flow, calls + 1, tokens + wanted.tokens, wanted.weightText)
  s.queued, s.queuedTokens = s.queued + 1, s.queuedTokens + wanted.tokens
  return s.queued == 1 or calls == 0 and call('ZRANGE', ACTIVE, 0, 0)[1] == wanted.flow
end

local function indexOf(list, wantedId)
  for index, notice in ipairs(list) do
    if notice[1] == wantedId then
      return index
    end
  end
end

local function decide()
  if s.queued > 0 and s.time >= s.pumpAt then
    pump()
  end
  local at = s.queued == 0 and s.open < slots and soon(wanted.tokens)
  if at and at <= s.time + waitMs then
    local tag = historyOf(wanted.flow)
    local nextTag = grant(id, wanted, at, max(s.virtual, tag))
    local _, meanMs = historyOf(wanted.flow)
    remember(wanted.flow, nextTag, meanMs)
    reserve(wanted, 1)
    return 1, at, ''
  end
  local expectedAt, rule, isExact = expectation()
  if expectedAt > s.time + waitMs then
    return -1, expectedAt - s.time, rule, isExact
  end
  if enqueue(expectedAt, rule) then
    pump()
    local kind, grantedAt, none = found()
    if kind == 1 then
      -- Its own grant is its answer.
      local own = notices[PROCESS]
      table.remove(own, indexOf(own, id))
      return kind, grantedAt, none
    end
  end
  return 0, expectedAt - s.time, rule
end

local function acquire()
  local kind, number, rule, isExact = found()
  if not kind then
    kind, number, rule, isExact = refusal()
  end
  if not kind then
    kind, number, rule, isExact = decide()
  end
  return appendUsage({ kind, number, rule, isExact or 1 })
end

local answer, key, word = {}, 1, 1
while word <= #ARGV do
  open(key, word)
  sweep()
  local first, own = word + 6, {}
  key, word = CALENDARS + #windows, first + WORDS * ARGV[word + 5]
  for at = first, word - 1, WORDS do
    read(at)
    own[#own + 1] = acquire()
  end
  append(answer, finish(), unpack(own))
end
return answer
