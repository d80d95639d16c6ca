-- Renews leases, and says of waiting tokens where they are, which is a sign of life of their process.
-- KEYS[1] hash
-- KEYS[2] holders by expiry
-- KEYS[3] waiters by ticket
-- KEYS[4] processes by last sign of life
-- ARGV[1] prefix of channels
-- ARGV[2] process
-- ARGV[3] number of renewals, r
-- ARGV[4..] token and lease in ms, r times; then the waiting tokens
-- Returns {counter, nextExpiryMs, r times 1 renewed | 0 gone | -1 revoked, then of each waiting token three numbers:
--         0, ticket, 0 queued | 1, fence, leftMs granted | -1, 0, 0 gone}
-- Above maxmemory Redis refuses a script's first write if it takes memory, but none after one that takes none: a lease can be
-- renewed all the same.
call('HDEL', HASH, '')
local process, renewals = ARGV[2], tonumber(ARGV[3])
local firstWaiter = 4 + 2 * renewals
local answer = { 0, -1 }
local lock = open()

local function renew(token, leaseMs)
  local entry = lock.isHeldBy(token) and entryOf(token)
  if not entry or entry.state == 'r' then
    return 0
  end
  if entry.state == 'v' then
    return -1
  end
  lock.prolong(token, leaseMs)
  if entry.state ~= 'h' then
    entry.state = 'h'
    lock.save(token, entry)
  end
  return 1
end

local function find(token)
  local ticket = call('ZSCORE', WAITERS, token)
  if ticket then
    return 0, tonumber(ticket), 0
  end
  local expiry = lock.isHeldBy(token)
  if expiry then
    return 1, entryOf(token).fence, math.floor((tonumber(expiry) - lock.time) / 1000)
  end
  return -1, 0, 0
end

if firstWaiter <= #ARGV then
  lock.seen(process)
end
for index = 4, firstWaiter - 2, 2 do
  answer[#answer + 1] = renew(ARGV[index], tonumber(ARGV[index + 1]))
end
lock.pump()
for index = firstWaiter, #ARGV do
  local kind, number, leftMs = find(ARGV[index])
  local count = #answer
  answer[count + 1], answer[count + 2], answer[count + 3] = kind, number, leftMs
end
answer[1], answer[2] = counter, lock.nextExpiryMs()
lock.finish()
return answer
