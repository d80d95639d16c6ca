-- Takes away the events of a turn whose conversation is gone.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- KEYS[5] events
-- ARGV[1] owner
-- ARGV[2] token
-- ARGV[3] its first seq
-- Returns 1 gone | 0 it runs, or there were none
if open() and running(ARGV[2], tonumber(ARGV[3])) then
  return 0
end
return call('DEL', KEYS[5])
