-- Asks for the end of a turn: tells whoever runs it.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] prefix of channels
-- ARGV[3] token
-- ARGV[4] its first seq
-- Returns 1 asked | 0 it is over | -1 missing
local first = tonumber(ARGV[4])
if not open() then
  return -1
end
local turn = running(ARGV[3], first)
if turn then
  call('HSET', TURN, 'cancelled', 1)
  tell(ARGV[2], turn.process, 'cancelled', turn)
  return 1
end
return logged(ARGV[3], first) and 0 or -1
