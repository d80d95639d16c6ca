-- What the scripts of kept answers share. It stands behind now() and in front of each of them. A shelf is a hash of answers, each
-- purpose|text under its name, with the number of all bytes under '#', and a sorted set of the same names by their ends in ms. A
-- flight is a hash: t token and p purpose of its leader, u end of his lease, w:<process> until when a process is believed to wait.
-- The numbers are those of answer.store.ts; a spec compares them.
local LEASE_MS, INTEREST_MS, TELL_MS, OVERHEAD_BYTES, ROUNDS, SLACK_MS = 4000, 3000, 10000, 256, 64, 1000

local call = redis.call
local ms = math.floor(now() / 1000)

-- Never `..` or tostring: Lua writes a large number with 14 digits.
local function text(number)
  return string.format('%.0f', number)
end

-- The token and purpose of a flight's leader; nothing where he is dead.
local function leaderOf(flight)
  local saved = call('HMGET', flight, 't', 'p', 'u')
  if saved[1] and ms < tonumber(saved[3]) then
    return saved[1], saved[2]
  end
end

-- The processes that wait for a flight.
local function waitersOf(flight)
  local waiters, fields = {}, call('HGETALL', flight)
  for index = 1, #fields, 2 do
    local process = string.match(fields[index], '^w:(.*)$')
    if process and ms < tonumber(fields[index + 1]) then
      waiters[#waiters + 1] = process
    end
  end
  return waiters
end
