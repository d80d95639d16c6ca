-- Adds counts of tokens to cards that have none of that encoding.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] letter of the encoding
-- ARGV[3..] seq and count in turn
-- Returns how many were added
local conversation, added = open(), 0
if not conversation then
  return 0
end
for at = 3, #ARGV, 2 do
  local index = tonumber(ARGV[at]) - conversation.base - 1
  local card = index >= 0 and call('LINDEX', CARDS, index)
  local marks, counts, rest = string.match(card or '', '^([^|]*)|?([^|]*)(.*)$')
  if card and not string.find(',' .. counts, ',' .. ARGV[2], 1, true) then
    local more = counts == '' and '' or counts .. ','
    call('LSET', CARDS, index, marks .. '|' .. more .. ARGV[2] .. ARGV[at + 1] .. rest)
    added = added + 1
  end
end
return added
