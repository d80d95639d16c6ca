-- What the scripts of a lock share. It stands behind now() and in front of each of them, and reads only; open() begins a change.
-- KEYS[1] hash: c counter, w weight held, cap capacity, o clock offset, t logical time, q 1 if waited for, x end of all entries,
--         e:<token> = state|weight|fence|process|description; states: q queued, p granted by message, h held, v revoked, r released
--         but kept. At rest (nothing held or waited for, or the time past x) only c and x count.
-- KEYS[2] holders by expiry
-- KEYS[3] waiters by ticket
-- KEYS[4] processes by last sign of life
-- Times in the hash and the sets are microseconds. These numbers are those of lock.limits.ts; a spec compares them.
local GRANT_MS, ALIVE_MS, GAP_MS, DAMP_MS = 2000, 1500, 700, 5000
local MEMORY_MS, QUEUE_MS, SLACK_MS, ROUNDS = 60000, 10000, 1000, 256

local call = redis.call
local HASH, HOLDERS, WAITERS, ALIVE = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

-- Never `..` or tostring: Lua writes a large number with 14 digits.
local function text(number)
  return string.format('%.0f', number)
end

local us = now()
local saved = call('HMGET', HASH, 'c', 'x', 'w', 'cap', 'o', 't', 'q')
local endsAt = tonumber(saved[2] or 0)
local isForgotten = not saved[1] or us >= endsAt + MEMORY_MS * 1000
local isAtRest = isForgotten or not saved[3] or us >= endsAt
local counter = isForgotten and 0 or tonumber(saved[1])
local weight = isAtRest and 0 or tonumber(saved[3])
local capacity = isAtRest and 1 or tonumber(saved[4])
local isQueued = not isAtRest and saved[7] == '1'

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
local time = logicalTime()

local function entryOf(token)
  local value = call('HGET', HASH, 'e:' .. token)
  if not value then
    return nil
  end
  local state, share, fence, process, description = string.match(value, '^(%a)|(%d+)|(%d+)|([^|]*)|(.*)$')
  return { state = state, weight = tonumber(share), fence = tonumber(fence), process = process, description = description }
end

local function format(entry)
  local words = { entry.state, text(entry.weight), text(entry.fence), entry.process, entry.description }
  return table.concat(words, '|')
end

local function save(token, entry)
  call('HSET', HASH, 'e:' .. token, format(entry))
end

-- Tickets and fences are one rising number; the floor is the clock, so that it rises even where the counter was lost.
local function nextNumber()
  counter = math.max(counter + 1, us)
  return counter
end

local function nextExpiryMs()
  local first = call('ZRANGE', HOLDERS, 0, 0, 'WITHSCORES')
  if not first[1] then
    return -1
  end
  return math.max(0, math.ceil((tonumber(first[2]) - time) / 1000))
end

local function tell(process, kind, token, fence, leaseMs)
  -- A refused publish (rights on the channel) must not break the script in its midst; the next beat finds the grant.
  redis.pcall('PUBLISH', ARGV[1] .. process, table.concat({ kind, token, text(fence), text(leaseMs), HASH }, '|'))
end

-- Entries that outlived their end, or sets whose hash was lost, are not to be met again.
local function open()
  if isForgotten or (isAtRest and saved[3]) then
    call('DEL', HASH, HOLDERS, WAITERS, ALIVE)
  end
end

local function drop(token, entry)
  call('ZREM', HOLDERS, token)
  if entry then
    weight = weight - entry.weight
    call('HDEL', HASH, 'e:' .. token)
  end
end

local function forget(token)
  call('ZREM', WAITERS, token)
  call('HDEL', HASH, 'e:' .. token)
end

local function reap()
  for _ = 1, ROUNDS do
    local first = call('ZRANGE', HOLDERS, 0, 0, 'WITHSCORES')
    if not first[1] then
      weight = 0
      return
    end
    if tonumber(first[2]) > time then
      return
    end
    drop(first[1], entryOf(first[1]))
  end
end

local function isAlive(process)
  local seen = call('ZSCORE', ALIVE, process)
  return seen and time - tonumber(seen) <= ALIVE_MS * 1000
end

local function grant(token, entry)
  call('ZREM', WAITERS, token)
  weight = weight + entry.weight
  entry.state, entry.fence = 'p', nextNumber()
  save(token, entry)
  call('ZADD', HOLDERS, text(time + GRANT_MS * 1000), token)
  tell(entry.process, 'G', token, entry.fence, GRANT_MS)
end

local function admit()
  for _ = 1, ROUNDS do
    local token = call('ZRANGE', WAITERS, 0, 0)[1]
    if not token then
      return
    end
    local entry = entryOf(token)
    if entry and isAlive(entry.process) then
      entry.weight = math.min(entry.weight, capacity)
      if weight + entry.weight > capacity then
        return
      end
      grant(token, entry)
    else
      forget(token)
    end
  end
end

-- Lets those out whose lease is over and those in who come next, in the order of their tickets.
local function pump()
  reap()
  admit()
end

-- The counter outlives the last entry: fences rise even if the clock steps back meanwhile.
local function rest()
  call('DEL', HASH, HOLDERS, WAITERS, ALIVE)
  if counter > 0 then
    call('HSET', HASH, 'c', text(counter), 'x', text(us))
    call('PEXPIRE', HASH, MEMORY_MS)
  end
end

-- Writes the lock back. Key expiry only collects garbage; what is over is decided by x and by the scores.
local function finish()
  local last = call('ZRANGE', HOLDERS, -1, -1, 'WITHSCORES')
  local queued = call('EXISTS', WAITERS)
  if not last[1] and queued == 0 then
    return rest()
  end
  local latest = math.max(tonumber(last[2] or 0), time + queued * QUEUE_MS * 1000)
  local leftMs = math.ceil((latest - time) / 1000) + SLACK_MS
  call('HSET', HASH, 'c', text(counter), 'x', text(us + leftMs * 1000), 'w', text(weight), 'cap', text(capacity),
    'o', text(time - us), 't', text(time), 'q', queued)
  call('PEXPIRE', HASH, leftMs + MEMORY_MS)
  call('PEXPIRE', HOLDERS, leftMs)
  if queued == 1 then
    call('ZREMRANGEBYSCORE', ALIVE, 0, text(time - MEMORY_MS * 1000))
    call('PEXPIRE', WAITERS, leftMs)
    call('PEXPIRE', ALIVE, leftMs)
  else
    call('DEL', ALIVE)
  end
end
