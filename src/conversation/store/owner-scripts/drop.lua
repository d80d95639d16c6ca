-- Takes a conversation out of its owner's list.
-- KEYS[1] ids by last use
-- KEYS[2] ids by end
-- ARGV[1] id
-- ARGV[2] last use, ms, where it is meant only if it was not used since; '' in any case
-- Returns 1 taken out | 0 not there, or used since
local saved = call('ZSCORE', USED, ARGV[1])
if not saved or (ARGV[2] ~= '' and tonumber(saved) ~= tonumber(ARGV[2])) then
  return 0
end
call('ZREM', USED, ARGV[1])
call('ZREM', ENDS, ARGV[1])
return 1
