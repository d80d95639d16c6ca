-- Tells of the turn that a key was used for.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- KEYS[5] what the key was used for: token|first seq|hash of the body|time in ms from which on it is forgotten
-- ARGV[1] owner
-- ARGV[2] hash of the body
-- Returns {1 if the body is the same, else 0, then the turn} | {} unknown
local conversation = open()
local token, first, body, ends = string.match(call('GET', KEYS[5]) or '', '^([^|]*)|(%d+)|([^|]*)|(%d+)$')
if not conversation or not token or tonumber(ends) <= ms then
  return {}
end
local turn = toldTurn(token, tonumber(first), conversation)
return turn and append({ body == ARGV[2] and 1 or 0 }, turn) or {}
