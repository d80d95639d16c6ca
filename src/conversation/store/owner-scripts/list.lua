-- Reads part of an owner's list, the last used one first; of those used at one time, the one whose id is last in the order of bytes.
-- KEYS[1] ids by last use
-- KEYS[2] ids by end
-- ARGV[1] last use of the last one that is known, ms; '' from the beginning
-- ARGV[2] its id
-- ARGV[3] how many at most
-- Returns of each its id and last use
local limit, found, offset = tonumber(ARGV[3]), {}, 0
local from = ARGV[1] == '' and '+inf' or ARGV[1]

-- By bytes, as the index is: Lua's own comparison follows the server's locale.
local function isBefore(id, other)
  for at = 1, math.min(#id, #other) do
    local byte, otherByte = string.byte(id, at), string.byte(other, at)
    if byte ~= otherByte then
      return byte < otherByte
    end
  end
  return #id < #other
end

local function isKnown(id, used)
  return ARGV[1] ~= '' and tonumber(used) == tonumber(ARGV[1]) and not isBefore(id, ARGV[2])
end

repeat
  local step = call('ZREVRANGEBYSCORE', USED, from, '-inf', 'WITHSCORES', 'LIMIT', offset, limit)
  for at = 1, #step, 2 do
    if #found < 2 * limit and not isKnown(step[at], step[at + 1]) then
      found[#found + 1] = step[at]
      found[#found + 1] = tonumber(step[at + 1])
    end
  end
  offset = offset + limit
until #found >= 2 * limit or #step < 2 * limit
return found
