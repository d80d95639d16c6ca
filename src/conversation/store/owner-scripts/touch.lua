-- Sets the place of a conversation in its owner's list; a place that is newer stays. Takes out some that are over.
-- KEYS[1] ids by last use
-- KEYS[2] ids by end
-- ARGV[1] id
-- ARGV[2] last use, ms
-- ARGV[3] from when on it is over, ms; 0: never
-- Returns how many were taken out
local MOST_OUT = 20
local ms = math.floor(now() / 1000)

local function isNewer()
  local saved = call('ZSCORE', USED, ARGV[1])
  return saved and tonumber(saved) > tonumber(ARGV[2])
end

local function renew()
  local last = call('ZREVRANGE', ENDS, 0, 0, 'WITHSCORES')
  local hasEndless = call('ZCARD', USED) > call('ZCARD', ENDS)
  for _, key in ipairs({ USED, ENDS }) do
    if hasEndless then
      call('PERSIST', key)
    elseif last[2] then
      call('PEXPIRE', key, math.max(1, tonumber(last[2]) - ms) + SLACK_MS)
    end
  end
end

if not isNewer() then
  call('ZADD', USED, ARGV[2], ARGV[1])
  if ARGV[3] == '0' then
    call('ZREM', ENDS, ARGV[1])
  else
    call('ZADD', ENDS, ARGV[3], ARGV[1])
  end
end
local over = call('ZRANGEBYSCORE', ENDS, '-inf', ms, 'LIMIT', 0, MOST_OUT)
for _, id in ipairs(over) do
  call('ZREM', USED, id)
  call('ZREM', ENDS, id)
end
renew()
return #over
