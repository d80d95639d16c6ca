-- Reads the number for one of several readers: writers with an older fence are refused from now on.
-- KEYS[1] hash: n the number, fence of the newest who was here, w fence of the last write
-- ARGV[1] fence
-- Returns {the number, fence of the last write}
local newest = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if tonumber(ARGV[1]) > newest then
  redis.call('HSET', KEYS[1], 'fence', ARGV[1])
end
return { tonumber(redis.call('HGET', KEYS[1], 'n') or '0'), tonumber(redis.call('HGET', KEYS[1], 'w') or '0') }
