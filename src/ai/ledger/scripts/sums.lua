-- Reads sums of a caller's calls.
-- KEYS[1..] hashes: the sums of a day or a month
-- Returns of each its names and values, one after the other
local answer = {}
for index, key in ipairs(KEYS) do
  answer[index] = redis.call('HGETALL', key)
end
return answer
