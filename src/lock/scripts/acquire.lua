-- Takes the lock, or a place in its queue. A token that is known finds itself, so a repeated acquire is no second one.
-- KEYS[1] hash
-- KEYS[2] holders by expiry
-- KEYS[3] waiters by ticket
-- KEYS[4] processes by last sign of life
-- KEYS[5] tombstone of the token
-- ARGV[1] prefix of channels
-- ARGV[2] token
-- ARGV[3] weight
-- ARGV[4] capacity
-- ARGV[5] lease in ms
-- ARGV[6] process
-- ARGV[7] ticket of an earlier place, 0 for a new one
-- ARGV[8] 1 to wait, 0 to be refused
-- ARGV[9] description
-- Returns {1, fence} granted | {0, ticket, counter, nextExpiryMs} queued | {-1, counter, nextExpiryMs} busy
--         | {-2} buried | {-3} revoked
local token, leaseMs, process = ARGV[2], tonumber(ARGV[5]), ARGV[6]
local wanted = { state = 'h', weight = tonumber(ARGV[3]), fence = 0, process = process, description = ARGV[9] }

local buriedUntil = call('GET', KEYS[5])
if buriedUntil and tonumber(buriedUntil) > us then
  return { -2 }
end
open()
local askedCapacity = tonumber(ARGV[4])

-- The usual case: nobody holds it or waits, so there is nothing to pump and the whole state is known.
if isAtRest then
  wanted.weight, wanted.fence = math.min(wanted.weight, askedCapacity), nextNumber()
  local leftMs = leaseMs + SLACK_MS
  call('HSET', HASH, 'c', text(counter), 'x', text(us + leftMs * 1000), 'w', text(wanted.weight),
    'cap', text(askedCapacity), 'o', 0, 't', text(us), 'q', 0, 'e:' .. token, format(wanted))
  call('ZADD', HOLDERS, text(us + leaseMs * 1000), token)
  call('PEXPIRE', HASH, leftMs + MEMORY_MS)
  call('PEXPIRE', HOLDERS, leftMs)
  return { 1, wanted.fence }
end

-- A holder's lease starts anew; what was revoked or released is not taken up again.
local function reclaim()
  if not call('ZSCORE', HOLDERS, token) then
    return nil
  end
  local entry = entryOf(token)
  if entry.state == 'v' or entry.state == 'r' then
    return { -3 }
  end
  call('ZADD', HOLDERS, text(time + leaseMs * 1000), token)
  entry.state = 'h'
  save(token, entry)
  return { 1, entry.fence }
end

-- True if there was room.
local function enter()
  if weight == 0 then
    capacity = askedCapacity
  end
  local share = math.min(wanted.weight, capacity)
  if weight + share > capacity then
    return false
  end
  weight = weight + share
  wanted.weight, wanted.fence = share, nextNumber()
  save(token, wanted)
  call('ZADD', HOLDERS, text(time + leaseMs * 1000), token)
  return true
end

local function enqueue(ticket)
  wanted.state, wanted.fence = 'q', ticket
  save(token, wanted)
  call('ZADD', WAITERS, text(ticket), token)
  call('ZADD', ALIVE, text(time), process)
end

local function decide()
  local own = reclaim()
  if own then
    return own
  end
  local place = call('ZSCORE', WAITERS, token)
  if place then
    call('ZADD', ALIVE, text(time), process)
    return { 0, tonumber(place), counter, nextExpiryMs() }
  end
  if call('EXISTS', WAITERS) == 0 and enter() then
    return { 1, wanted.fence }
  end
  if ARGV[8] == '0' then
    return { -1, counter, nextExpiryMs() }
  end
  local ticket = tonumber(ARGV[7])
  if ticket == 0 then
    ticket = nextNumber()
    enqueue(ticket)
  else
    -- An old ticket may be the first in the queue.
    enqueue(ticket)
    pump()
    own = reclaim()
  end
  return own or { 0, ticket, counter, nextExpiryMs() }
end

-- The smaller capacity wins while anything is held.
capacity = math.min(capacity, askedCapacity)
-- Before the pump, or a process would find its own waiters dead.
if isQueued then
  call('ZADD', ALIVE, 'XX', text(time), process)
end
pump()
local answer = decide()
finish()
return answer
