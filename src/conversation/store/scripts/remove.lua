-- Takes a conversation away. Whoever runs a turn of it is told to stop.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] seq that is expected, or ''
-- ARGV[3] version that is expected
-- ARGV[4] prefix of channels
-- Returns {1, token of the turn that ran, or '', and its first seq} | {0} missing | {-2} changed
local conversation = open()
if not conversation then
  return { 0 }
end
if not isAt(conversation, ARGV[2], ARGV[3]) then
  return { -2 }
end
local turn = running()
if turn then
  tell(ARGV[4], turn.process, 'cancelled', turn)
  tellReaders(ARGV[4], 'ended', turn)
end
call('DEL', META, LOG, CARDS, TURN)
return { 1, turn and turn.token or '', turn and turn.first or 0 }
