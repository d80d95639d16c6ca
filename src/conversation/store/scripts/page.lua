-- Reads part of the log. It ends early where the messages are long.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- ARGV[2] seq of the last message that is known
-- ARGV[3] how many at most
-- Returns {1 if there are more, else 0, how many of the following are in the log, then all messages, pending ones last} | {} missing
local PAGE_BYTES, STEP = 1048576, 16
local conversation, limit = open(), tonumber(ARGV[3])
if not conversation then
  return {}
end
local first = math.max(tonumber(ARGV[2]), conversation.base) + 1
local flat, count, bytes = {}, 0, 0

local function add(entry, card)
  local fields = message(entry, card)
  append(flat, fields)
  count, bytes = count + 1, bytes + #fields[3] + #fields[4]
end

while count < limit and bytes < PAGE_BYTES do
  local step = entries(first + count, math.min(STEP, limit - count))
  if not step[1] then
    break
  end
  local index = first + count - conversation.base - 1
  local cards = call('LRANGE', CARDS, index, index + #step - 1)
  for at, entry in ipairs(step) do
    if bytes >= PAGE_BYTES then
      break
    end
    add(entry, cards[at])
  end
end
local turn = running()
local answer = append({ first + count <= conversation.seq and 1 or 0, count }, flat)
return turn and append(answer, pending(turn)) or answer
