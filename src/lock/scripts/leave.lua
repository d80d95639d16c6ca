-- Release, cancel and undo in one: takes the token out, wherever it is, and lets the next ones in.
-- KEYS[1] hash
-- KEYS[2] holders by expiry
-- KEYS[3] waiters by ticket
-- KEYS[4] processes by last sign of life
-- KEYS[5] tombstone of the token
-- ARGV[1] prefix of channels
-- ARGV[2] token
-- ARGV[3] how long it stays held in ms, 0 for not at all
-- ARGV[4] how long acquires with this token are refused in ms, 0 where none can be on its way
-- Returns 2 held | 1 waited | 0 unknown
-- Takes no memory, so that above maxmemory Redis refuses none of the writes that follow; see beat.lua.
call('HDEL', HASH, '')
local token, keepMs, tombstoneMs = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

if tombstoneMs > 0 then
  call('SET', KEYS[5], us + tombstoneMs * 1000, 'PX', tombstoneMs)
end
-- The usual case: the only holder goes, and nobody waits.
if not isAtRest and not isQueued and keepMs == 0 then
  local state, share = string.match(call('HGET', HASH, 'e:' .. token) or '', '^(%a)|(%d+)|')
  if share == saved[3] and state ~= 'r' then
    rest()
    return 2
  end
end

local lock = open()
local own = entryOf(token)
local answer = 0
if own and own.state ~= 'q' then
  answer = 2
  if own.state ~= 'r' and keepMs > 0 then
    own.state = 'r'
    lock.save(token, own)
    lock.holdFor(token, keepMs)
  elseif own.state ~= 'r' then
    lock.drop(token, own)
  end
elseif own then
  answer = 1
  lock.forget(token)
end
lock.pump()
lock.finish()
return answer
