-- Reads entries of a caller's log in their order.
-- KEYS[1] stream: the log
-- ARGV[1] the first id
-- ARGV[2] the last id
-- ARGV[3] how long entries are kept, ms
-- ARGV[4] how many at most
-- Returns of each entry its id and its names and values
local kept = math.max(0, math.floor(now() / 1000) - tonumber(ARGV[3]) + 1)
local isOver = tonumber(string.match(ARGV[1], '^%d+')) < kept
return redis.call('XRANGE', KEYS[1], isOver and string.format('%.0f', kept) or ARGV[1], ARGV[2], 'COUNT', ARGV[4])
