-- What the scripts of a lock share. It stands behind now() and in front of each of them. It reads only; open() begins a change,
-- and makes its functions only then, since making them costs as much as the usual case.
-- KEYS[1] hash: c counter, x end of all entries, w weight held, cap smallest capacity of its holders (0: it has none), o clock
--         offset, t logical time, q 1 if waited for, e:<token> = state|weight|capacity|fence|process|description; states: q queued,
--         p granted by message, h held, v revoked, r released but kept. At rest (nothing held or waited for, or the time past x)
--         only c and x count.
-- KEYS[2] holders by expiry
-- KEYS[3] waiters by ticket
-- KEYS[4] processes by last sign of life
-- Times in the hash and the sets are microseconds. These numbers are those of lock.limits.ts; a spec compares them.
local GRANT_MS, ALIVE_MS, GAP_MS, DAMP_MS = 2000, 1500, 700, 5000
local MEMORY_MS, QUEUE_MS, SLACK_MS, ROUNDS = 60000, 10000, 1000, 256

local call = redis.call
local HASH, HOLDERS, WAITERS, ALIVE = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local us = now()
local saved = call('HMGET', HASH, 'c', 'x', 'w', 'cap', 'o', 't', 'q')
local endsAt = tonumber(saved[2] or 0)
local isForgotten = not saved[1] or us >= endsAt + MEMORY_MS * 1000
local isAtRest = isForgotten or not saved[3] or us >= endsAt
local isQueued = not isAtRest and saved[7] == '1'
local counter = isForgotten and 0 or tonumber(saved[1])

-- A time, ticket or fence inside of a text: Lua itself writes 14 digits. What goes to call() as a number Redis writes in full.
local function text(number)
  return string.format('%.0f', number)
end

-- Tickets and fences are one rising number; the floor is the clock, so that it rises even where the counter was lost.
local function nextNumber()
  counter = math.max(counter + 1, us)
  return counter
end

-- Entries that outlived their end, or sets whose hash was lost, are not to be met again.
local function clearLeftovers()
  if isForgotten or (isAtRest and saved[3]) then
    call('DEL', HASH, HOLDERS, WAITERS, ALIVE)
  end
end

-- The counter outlives the last entry: fences rise even if the clock steps back meanwhile.
local function rest()
  call('DEL', HASH, HOLDERS, WAITERS, ALIVE)
  if counter > 0 then
    call('HSET', HASH, 'c', counter, 'x', us)
    call('PEXPIRE', HASH, MEMORY_MS)
  end
end

local function format(entry)
  return table.concat({ entry.state, entry.weight, entry.capacity, text(entry.fence), entry.process, entry.description }, '|')
end

local function entryOf(token)
  local value = call('HGET', HASH, 'e:' .. token)
  if not value then
    return nil
  end
  local state, share, capacity, fence, process, description = string.match(value, '^(%a)|(%d+)|(%d+)|(%d+)|([^|]*)|(.*)$')
  return { state = state, weight = tonumber(share), capacity = tonumber(capacity), fence = tonumber(fence), process = process,
    description = description }
end

-- The smallest capacity of the holders whose leases end from `first` on: none is below `least`, which most of them have.
local function smallestCapacity(first, least)
  local smallest, offset, step = math.huge, 0, 16
  repeat
    local tokens = call('ZRANGEBYSCORE', HOLDERS, first, '+inf', 'LIMIT', offset, step)
    for _, token in ipairs(tokens) do
      local entry = entryOf(token)
      smallest = math.min(smallest, entry and entry.capacity or math.huge)
      if smallest <= least then
        return smallest
      end
    end
    offset = offset + step
  until #tokens < step
  return smallest
end

-- Time goes on when the clock steps back, and a gap in which nobody could give a sign of life does not count.
local function logicalTime()
  if isAtRest then
    return us
  end
  local last = tonumber(saved[6])
  local time = math.max(us + tonumber(saved[5]), last)
  local blind = time - last - GAP_MS * 1000
  if isQueued and blind > 0 then
    time = time - math.min(blind, DAMP_MS * 1000)
  end
  return time
end

-- The lock, to be changed: time, weight held, and what can be done to it. lock.finish() writes it back.
local function open()
  clearLeftovers()
  local time = logicalTime()
  local lock = { time = time, weight = 0 }
  -- The smallest capacity of all holders; the one that had it may have left since.
  local capacity, isCapacityOver = math.huge, false
  if not isAtRest then
    lock.weight, capacity = tonumber(saved[3]), tonumber(saved[4])
  end

  local function capacityHeld()
    if isCapacityOver then
      capacity, isCapacityOver = smallestCapacity('-inf', capacity), false
    end
    return capacity
  end

  function lock.save(token, entry)
    call('HSET', HASH, 'e:' .. token, format(entry))
  end

  function lock.holdFor(token, milliseconds)
    call('ZADD', HOLDERS, time + milliseconds * 1000, token)
  end

  -- Never shortens: a renewal that was sent before a longer one may arrive after it.
  function lock.prolong(token, milliseconds)
    local expiry = math.max(tonumber(call('ZSCORE', HOLDERS, token)), time + milliseconds * 1000)
    call('ZADD', HOLDERS, expiry, token)
  end

  function lock.isHeldBy(token)
    return call('ZSCORE', HOLDERS, token)
  end

  function lock.seen(process)
    call('ZADD', ALIVE, time, process)
  end

  function lock.tell(process, kind, token, fence, leaseMs)
    local message = kind .. '|' .. token .. '|' .. text(fence) .. '|' .. leaseMs .. '|' .. HASH
    -- A refused publish (rights on the channel) must not break the script in its midst; the next beat finds the grant.
    redis.pcall('PUBLISH', ARGV[1] .. process, message)
  end

  function lock.nextExpiryMs()
    local first = call('ZRANGE', HOLDERS, 0, 0, 'WITHSCORES')
    if not first[1] then
      return -1
    end
    return math.max(0, math.ceil((tonumber(first[2]) - time) / 1000))
  end

  -- Takes out a holder.
  function lock.drop(token, entry)
    call('ZREM', HOLDERS, token)
    if entry then
      lock.weight = lock.weight - entry.weight
      call('HDEL', HASH, 'e:' .. token)
      isCapacityOver = isCapacityOver or entry.capacity == capacity
    end
  end

  -- Takes out a waiter.
  function lock.forget(token)
    call('ZREM', WAITERS, token)
    call('HDEL', HASH, 'e:' .. token)
  end

  -- True if there was room: the smallest capacity of all who hold it and of this one counts.
  function lock.enter(token, entry, leaseMs)
    local smaller = math.min(entry.capacity, capacityHeld())
    local share = math.min(entry.weight, smaller)
    if lock.weight + share > smaller then
      return false
    end
    lock.weight, capacity = lock.weight + share, smaller
    entry.weight, entry.fence = share, nextNumber()
    lock.save(token, entry)
    lock.holdFor(token, leaseMs)
    return true
  end

  local function reap()
    for _ = 1, ROUNDS do
      local first = call('ZRANGE', HOLDERS, 0, 0, 'WITHSCORES')
      if not first[1] then
        lock.weight, capacity, isCapacityOver = 0, math.huge, false
        return
      end
      if tonumber(first[2]) > time then
        return
      end
      lock.drop(first[1], entryOf(first[1]))
    end
  end

  local function isAlive(process)
    local seen = call('ZSCORE', ALIVE, process)
    return seen and time - tonumber(seen) <= ALIVE_MS * 1000
  end

  -- True if the first waiter was let in, or was dead: then the next one is first.
  local function admitFirst()
    local token = call('ZRANGE', WAITERS, 0, 0)[1]
    local entry = token and entryOf(token)
    if not token then
      return false
    end
    if not entry or not isAlive(entry.process) then
      lock.forget(token)
      return true
    end
    entry.state = 'p'
    if not lock.enter(token, entry, GRANT_MS) then
      return false
    end
    call('ZREM', WAITERS, token)
    lock.tell(entry.process, 'G', token, entry.fence, GRANT_MS)
    return true
  end

  -- Lets those out whose lease is over and those in who come next, in the order of their tickets.
  function lock.pump()
    reap()
    for _ = 1, ROUNDS do
      if not admitFirst() then
        return
      end
    end
  end

  -- Key expiry only collects garbage; what is over is decided by x and by the scores.
  function lock.finish()
    local last = call('ZRANGE', HOLDERS, -1, -1, 'WITHSCORES')
    local queued = call('EXISTS', WAITERS)
    if not last[1] and queued == 0 then
      return rest()
    end
    local latest = math.max(tonumber(last[2] or 0), time + queued * QUEUE_MS * 1000)
    local leftMs = math.ceil((latest - time) / 1000) + SLACK_MS
    local smallest = last[1] and capacityHeld() or 0
    call('HSET', HASH, 'c', counter, 'x', us + leftMs * 1000, 'w', lock.weight, 'cap', smallest, 'o', time - us, 't', time,
      'q', queued)
    call('PEXPIRE', HASH, leftMs + MEMORY_MS)
    call('PEXPIRE', HOLDERS, leftMs)
    if queued == 0 then
      return call('DEL', ALIVE)
    end
    call('ZREMRANGEBYSCORE', ALIVE, 0, time - MEMORY_MS * 1000)
    call('PEXPIRE', WAITERS, leftMs)
    call('PEXPIRE', ALIVE, leftMs)
  end

  return lock
end
