-- Takes the lock from its holders and tells them. Drained, a holder is refused its renewals and goes when its lease ends at the
-- latest; or the lock passes on at once, with the old holder perhaps still at work: then only the fence keeps it out.
-- KEYS[1] hash
-- KEYS[2] holders by expiry
-- KEYS[3] waiters by ticket
-- KEYS[4] processes by last sign of life
-- ARGV[1] prefix of channels
-- ARGV[2] token, empty for every holder
-- ARGV[3] 'drain' or 'now'
-- Returns the number of holders it was taken from
-- Takes no memory, so that above maxmemory Redis refuses none of the writes that follow; see beat.lua.
call('HDEL', HASH, '')
local wanted, mode = ARGV[2], ARGV[3]
local revoked = 0
local lock = open()

local function revoke(token)
  local entry = entryOf(token)
  if not entry then
    return
  end
  -- What was released and is kept for its minimum time can only be cut short.
  if entry.state ~= 'r' or mode == 'now' then
    revoked = revoked + 1
  end
  if entry.state ~= 'r' then
    lock.tell(entry.process, 'V', token, entry.fence, 0)
  end
  if mode == 'now' then
    lock.drop(token, entry)
  elseif entry.state ~= 'r' then
    entry.state = 'v'
    lock.save(token, entry)
  end
end

-- What is over goes by itself.
for _, token in ipairs(call('ZRANGEBYSCORE', HOLDERS, '(' .. text(lock.time), '+inf')) do
  if wanted == '' or wanted == token then
    revoke(token)
  end
end
lock.pump()
lock.finish()
return revoked
