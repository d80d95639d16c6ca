-- Begins a conversation, or finds it.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] how long it is kept, ms; 0: for ever
-- ARGV[3..] its other fields, name and value in turn
-- Returns {1 if it is new, else 0, then the conversation} | {-1} there is one of another owner
if open() then
  return append({ 0 }, told())
end
local ends = tonumber(call('HGET', META, 'ends') or -1)
if ends == 0 or ends > ms then
  return { -1 }
end
call('DEL', META, LOG, CARDS, TURN)
call('HSET', META, 'owner', ARGV[1], 'keep', ARGV[2], 'created', ms, 'seq', 0, 'base', 0, 'version', 1, 'fence', 0)
for index = 3, #ARGV, 2 do
  call('HSET', META, ARGV[index], ARGV[index + 1])
end
renew(tonumber(ARGV[2]), 0)
return append({ 1 }, told())
