-- Changes fields of a conversation.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] seq that is expected, or ''
-- ARGV[3] version that is expected
-- ARGV[4..] name, 1 to set it or 0 to take it away, and value in turn
-- Returns {1, then the conversation} | {0} missing | {-2} changed
local conversation = open()
if not conversation then
  return { 0 }
end
if not isAt(conversation, ARGV[2], ARGV[3]) then
  return { -2 }
end
for index = 4, #ARGV, 3 do
  if ARGV[index + 1] == '1' then
    call('HSET', META, ARGV[index], ARGV[index + 2])
  else
    call('HDEL', META, ARGV[index])
  end
end
call('HINCRBY', META, 'version', 1)
renew(conversation.keep, running() and RUN_MS or 0)
return append({ 1 }, told())
