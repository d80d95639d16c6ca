-- What an operator sees of the lock. It changes nothing, so it also shows waiters that a next command would find dead.
-- KEYS[1] hash
-- KEYS[2] holders by expiry
-- KEYS[3] waiters by ticket
-- KEYS[4] processes by last sign of life
-- ARGV[1] how many holders and waiters are shown at most
-- Returns {} if nobody holds it or waits | {capacity, used, queued, number of holders shown, of each
--         token, state, weight, fence, process, description, leftMs; then of each waiter shown token, ticket, process, description}
local shown, time = tonumber(ARGV[1]), logicalTime()

local function weightOver()
  local over = 0
  for _, token in ipairs(call('ZRANGEBYSCORE', HOLDERS, '-inf', time)) do
    over = over + entryOf(token).weight
  end
  return over
end

local function append(list, values)
  for _, value in ipairs(values) do
    list[#list + 1] = value
  end
end

if isAtRest then
  return {}
end
local held = call('ZRANGEBYSCORE', HOLDERS, '(' .. text(time), '+inf', 'WITHSCORES', 'LIMIT', 0, shown)
local queued = call('ZCARD', WAITERS)
if #held == 0 and queued == 0 then
  return {}
end
-- Where nobody holds it, what counts is what the first waiter asks for.
local capacity = #held > 0 and smallestCapacity('(' .. text(time), tonumber(saved[4]))
  or entryOf(call('ZRANGE', WAITERS, 0, 0)[1]).capacity
local answer = { capacity, tonumber(saved[3]) - weightOver(), queued, #held / 2 }
for index = 1, #held, 2 do
  local token, entry = held[index], entryOf(held[index])
  local leftMs = math.ceil((tonumber(held[index + 1]) - time) / 1000)
  append(answer, { token, entry.state, entry.weight, entry.fence, entry.process, entry.description, leftMs })
end
for _, token in ipairs(call('ZRANGE', WAITERS, 0, shown - 1)) do
  local entry = entryOf(token)
  append(answer, { token, entry.fence, entry.process, entry.description })
end
return answer
