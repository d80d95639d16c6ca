-- Tells what has become of a flight, and that somebody waits for it.
-- KEYS[1] flight
-- KEYS[2] what those who wait for it are told
-- ARGV[1] token of its leader
-- ARGV[2] process of the asker
-- Returns {1, text} it is over | {0} it is under way | {-1} it is gone
local told = call('GET', KEYS[2])
if told then
  local ends, said = string.match(told, '^(%d+)|(.*)$')
  if ms < tonumber(ends) then
    return { 1, said }
  end
end
if leaderOf(KEYS[1]) ~= ARGV[1] then
  return { -1 }
end
call('HSET', KEYS[1], 'w:' .. ARGV[2], text(ms + INTEREST_MS))
return { 0 }
