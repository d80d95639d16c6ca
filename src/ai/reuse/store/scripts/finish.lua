-- Ends a flight, keeps its answer, and tells those who wait.
-- KEYS[1] answers of the shelf
-- KEYS[2] ends of the answers
-- KEYS[3] flight
-- KEYS[4] what those who wait are told
-- ARGV[1] purpose
-- ARGV[2] token of the leader
-- ARGV[3] prefix of the channels
-- ARGV[4] text; empty: nothing is told
-- ARGV[5] name of the answer to be kept; empty: none
-- ARGV[6] how long it is kept, ms
-- ARGV[7] most bytes of the shelf
-- Returns how many processes were told
local function drop(name)
  local size = call('HSTRLEN', KEYS[1], name)
  call('HDEL', KEYS[1], name)
  call('ZREM', KEYS[2], name)
  call('HINCRBY', KEYS[1], '#', -(size + OVERHEAD_BYTES))
end

-- Both are gone, or the one that is left counts for nothing.
local function clearDamage()
  if call('EXISTS', KEYS[1], KEYS[2]) == 1 then
    call('DEL', KEYS[1], KEYS[2])
  end
end

-- False where so much would have to go that it takes longer than a moment: the next ones go on.
local function makeRoom(bytes)
  for _ = 1, ROUNDS do
    local first = call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    local used = tonumber(call('HGET', KEYS[1], '#') or 0)
    if not first[1] or (ms < tonumber(first[2]) and used + bytes <= tonumber(ARGV[7])) then
      return true
    end
    drop(first[1])
  end
  return tonumber(call('HGET', KEYS[1], '#')) + bytes <= tonumber(ARGV[7])
end

local function keep()
  local answer = ARGV[1] .. '|' .. ARGV[4]
  local bytes = string.len(answer) + OVERHEAD_BYTES
  clearDamage()
  if call('ZSCORE', KEYS[2], ARGV[5]) then
    drop(ARGV[5])
  end
  if bytes > tonumber(ARGV[7]) or not makeRoom(bytes) then
    return
  end
  call('HSET', KEYS[1], ARGV[5], answer)
  call('HINCRBY', KEYS[1], '#', bytes)
  call('ZADD', KEYS[2], ms + tonumber(ARGV[6]), ARGV[5])
  local last = call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
  local leftMs = text(tonumber(last[2]) - ms + SLACK_MS)
  call('PEXPIRE', KEYS[1], leftMs)
  call('PEXPIRE', KEYS[2], leftMs)
end

if ARGV[5] ~= '' then
  keep()
end
if leaderOf(KEYS[3]) ~= ARGV[2] then
  return 0
end
local waiters = waitersOf(KEYS[3])
call('DEL', KEYS[3])
if #waiters > 0 and ARGV[4] ~= '' then
  call('SET', KEYS[4], text(ms + TELL_MS) .. '|' .. ARGV[4], 'PX', TELL_MS + SLACK_MS)
end
for _, process in ipairs(waiters) do
  -- A refused publish (rights on the channel) must not break the script in its midst; who waits looks by itself.
  redis.pcall('PUBLISH', ARGV[3] .. process, ARGV[2])
end
return #waiters
