-- Writes the number, unless somebody with a newer fence was here, and notes the write.
-- KEYS[1] hash: n the number, fence of the newest who was here, w fence of the last write
-- KEYS[2] list of the fences of all writes, in their order
-- ARGV[1] fence
-- ARGV[2] the new number
-- Returns 1 written | 0 refused
local newest = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if tonumber(ARGV[1]) < newest then
  return 0
end
redis.call('HSET', KEYS[1], 'n', ARGV[2], 'fence', ARGV[1], 'w', ARGV[1])
redis.call('RPUSH', KEYS[2], ARGV[1])
return 1
