-- Takes away what the log holds, and a turn that an earlier holder of the lock left running; seq goes on.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] seq that is expected, or ''
-- ARGV[3] version that is expected
-- ARGV[4] prefix of channels
-- ARGV[5] fence
-- Returns {1, then the conversation} | {0} missing | {-1} fenced | {-2} changed | {-3} a turn of this holder runs
local conversation, fence = open(), tonumber(ARGV[5])
if not conversation then
  return { 0 }
end
if fence < conversation.fence then
  return { -1 }
end
if not isAt(conversation, ARGV[2], ARGV[3]) then
  return { -2 }
end
local turn = running()
if turn and turn.fence >= fence then
  return { -3 }
end
if turn then
  tellReaders(ARGV[4], 'ended', turn)
end
call('DEL', LOG, CARDS, TURN)
call('HDEL', META, 'head')
call('HSET', META, 'base', conversation.seq, 'version', conversation.version + 1, 'fence', ARGV[5])
renew(conversation.keep, 0)
return append({ 1 }, told())
