-- Reads what a window is planned from, from where the last one began.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] model
-- Returns {the conversation, then seq of the first card, and the cards} | {} missing
local conversation = open()
if not conversation then
  return {}
end
local first = conversation.base + 1
local seq, model = string.match(conversation.head or '', '^(%d+)|(.*)$')
if seq and model == ARGV[2] then
  first = math.max(first, tonumber(seq))
end
local answer = told()
answer[#answer + 1] = first
return append(answer, call('LRANGE', CARDS, first - conversation.base - 1, -1))
