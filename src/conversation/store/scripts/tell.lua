-- Adds events to a turn that runs, and tells those who read along.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- KEYS[5] events
-- ARGV[1] owner
-- ARGV[2] prefix of channels
-- ARGV[3] token
-- ARGV[4] its first seq
-- ARGV[5] fence
-- ARGV[6..] name and data in turn
-- Returns 1 added | 2 added, and somebody asked for its end | 0 missing | -1 fenced | -2 it does not run
local conversation, fence, turn = open(), tonumber(ARGV[5]), running(ARGV[3], tonumber(ARGV[4]))
if not conversation then
  return 0
end
if fence < conversation.fence then
  return -1
end
if not turn then
  return -2
end
if fence > conversation.fence then
  call('HSET', META, 'fence', ARGV[5])
end
addEvents(KEYS[5], turn, 6, RUN_MS)
call('HSET', TURN, 'n', turn.events)
tellReaders(ARGV[2], 'events', turn)
return turn.cancelled == '1' and 2 or 1
