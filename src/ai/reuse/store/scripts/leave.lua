-- A process waits for a flight no longer.
-- KEYS[1] flight
-- ARGV[1] token of its leader
-- ARGV[2] process
-- Returns 1 | 0 it is another one's flight by now
if leaderOf(KEYS[1]) ~= ARGV[1] then
  return 0
end
call('HDEL', KEYS[1], 'w:' .. ARGV[2])
return 1
