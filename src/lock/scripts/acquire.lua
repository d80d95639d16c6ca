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
local token, capacity, leaseMs, process = ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local wanted = { state = 'h', weight = tonumber(ARGV[3]), capacity = capacity, fence = 0, process = process,
  description = ARGV[9] }

local buriedUntil = call('GET', KEYS[5])
if buriedUntil and tonumber(buriedUntil) > us then
  return { -2 }
end

-- The usual case: nobody holds it or waits, so there is nothing to pump and the whole state is known.
if isAtRest then
  clearLeftovers()
  wanted.weight, wanted.fence = math.min(wanted.weight, capacity), nextNumber()
  local leftMs = leaseMs + SLACK_MS
  call('HSET', HASH, 'c', counter, 'x', us + leftMs * 1000, 'w', wanted.weight, 'cap', ARGV[4], 'o', '0', 't', us, 'q', '0',
    'e:' .. token, format(wanted))
  call('ZADD', HOLDERS, us + leaseMs * 1000, token)
  call('PEXPIRE', HASH, leftMs + MEMORY_MS)
  call('PEXPIRE', HOLDERS, leftMs)
  return { 1, wanted.fence }
end

local lock = open()

-- A holder's lease starts anew; what was revoked or released is not taken up again.
local function reclaim()
  local entry = lock.isHeldBy(token) and entryOf(token)
  if not entry then
    return nil
  end
  if entry.state == 'v' or entry.state == 'r' then
    return { -3 }
  end
  entry.state = 'h'
  lock.save(token, entry)
  lock.prolong(token, leaseMs)
  return { 1, entry.fence }
end

local function mayEnter()
  return call('EXISTS', WAITERS) == 0 and lock.enter(token, wanted, leaseMs)
end

local function enqueue(ticket)
  wanted.state, wanted.fence = 'q', ticket
  lock.save(token, wanted)
  call('ZADD', WAITERS, ticket, token)
  lock.seen(process)
end

local function decide()
  local own = reclaim()
  if own then
    return own
  end
  local place = call('ZSCORE', WAITERS, token)
  if place then
    lock.seen(process)
    return { 0, tonumber(place), counter, lock.nextExpiryMs() }
  end
  if mayEnter() then
    return { 1, wanted.fence }
  end
  if ARGV[8] == '0' then
    return { -1, counter, lock.nextExpiryMs() }
  end
  local ticket = tonumber(ARGV[7])
  if ticket == 0 then
    ticket = nextNumber()
    enqueue(ticket)
  else
    -- An old ticket may be the first in the queue.
    enqueue(ticket)
    lock.pump()
    own = reclaim()
  end
  return own or { 0, ticket, counter, lock.nextExpiryMs() }
end

-- Before the pump, or a process would find its own waiters dead.
if isQueued then
  call('ZADD', ALIVE, 'XX', lock.time, process)
end
lock.pump()
local answer = decide()
lock.finish()
return answer
