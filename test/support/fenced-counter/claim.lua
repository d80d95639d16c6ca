-- Opens the number for a writer: from now on whoever has an older fence is refused. Without this a holder that lost its lock could
-- still write between the reading and the writing of the next one.
-- KEYS[1] hash: n the number, fence of the newest who was here, w fence of the last write
-- ARGV[1] fence
-- Returns the number, or -1 where a newer one was here
local newest = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if tonumber(ARGV[1]) < newest then
  return -1
end
redis.call('HSET', KEYS[1], 'fence', ARGV[1])
return tonumber(redis.call('HGET', KEYS[1], 'n') or '0')
