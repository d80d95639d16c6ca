-- Tells of a turn.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] token; '' for the last one in the log
-- ARGV[3] its first seq
-- Returns the turn | {} missing
local conversation, token, first = open(), ARGV[2], tonumber(ARGV[3])
if not conversation then
  return {}
end
if token == '' then
  local last = call('XREVRANGE', LOG, '+', '-', 'COUNT', 1)[1]
  if not last then
    return {}
  end
  local head = parts(last[2][2])
  token, first = head.token, seqOf(last) - head.index
end
return toldTurn(token, first, conversation) or {}
