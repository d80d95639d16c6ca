-- The fair queue: what waits of each flow, and what each flow was charged.

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
