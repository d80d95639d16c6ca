-- Books calls of one day in their caller's ledger: of each an entry in the log, and what it adds to its sums, unless it is there.
-- KEYS[1] stream: the log; its ids are milliseconds of this clock, and a number
-- KEYS[2] sorted set: ids of the calls that were booked lately, by the time of that
-- KEYS[3] hash: the sums of the day, <counter>|<model>
-- KEYS[4] hash: those of the month
-- ARGV[1] how long the log and the day are kept, ms
-- ARGV[2] how long the month is, ms
-- ARGV[3] how long ids are remembered, ms
-- ARGV[4] how many entries the log holds, about
-- ARGV[5..] of each call its id, how many words describe it and these: names and values; how many words count it and these: names and amounts
-- Returns how many of them were new
local LOG, IDS = KEYS[1], KEYS[2]
local KEEP_MS, MONTH_MS, IDS_MS, MOST = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4]

local call = redis.call
local ms = math.floor(now() / 1000)
-- Never behind the last entry, also where the clock has stepped back: a stream would refuse it, and who reads on from there would miss it.
local last = call('XREVRANGE', LOG, '+', '-', 'COUNT', 1)[1]
local stamp, number = string.match(last and last[1] or '0-0', '^(%d+)-(%d+)$')
stamp, number = tonumber(stamp), tonumber(number)
if ms > stamp then
  stamp, number = ms, -1
end

call('ZREMRANGEBYSCORE', IDS, '-inf', stamp - IDS_MS)

local at, added, sums = 5, 0, {}
while at <= #ARGV do
  local id, described = ARGV[at], tonumber(ARGV[at + 1])
  local counted = at + 2 + described
  local ends = counted + tonumber(ARGV[counted])
  if call('ZADD', IDS, 'NX', stamp, id) == 1 then
    number, added = number + 1, added + 1
    call('XADD', LOG, 'MAXLEN', '~', MOST, string.format('%.0f-%.0f', stamp, number), unpack(ARGV, at + 2, counted - 1))
    for index = counted + 1, ends, 2 do
      sums[ARGV[index]] = (sums[ARGV[index]] or 0) + tonumber(ARGV[index + 1])
    end
  end
  at = ends + 1
end
for name, amount in pairs(sums) do
  call('HINCRBY', KEYS[3], name, string.format('%.0f', amount))
  call('HINCRBY', KEYS[4], name, string.format('%.0f', amount))
end

-- More than come, so that the log gets rid of what is over; few, so that nobody waits for it.
local over = call('XRANGE', LOG, '-', string.format('%.0f', math.max(0, ms - KEEP_MS)), 'COUNT', 2 * added + 10)
for _, entry in ipairs(over) do
  call('XDEL', LOG, entry[1])
end
call('PEXPIRE', LOG, KEEP_MS)
call('PEXPIRE', IDS, IDS_MS)
call('PEXPIRE', KEYS[3], KEEP_MS)
call('PEXPIRE', KEYS[4], MONTH_MS)
return added
