-- Books what a call took, once, and lets the next ones in.
-- KEYS[1] state
-- KEYS[2] budgets
-- KEYS[3] records
-- KEYS[4] leases
-- KEYS[5] queue
-- KEYS[6] flows that wait, by their tags
-- KEYS[7] flows that wait
-- KEYS[8] flows of this era
-- KEYS[9] flows of the era before
-- KEYS[10..] calendars
-- ARGV[1] rules: token rule|slots|look-ahead in ms|window/span/bucket in ms,burst in ms,requests,tokens;...|unit,period,limit;...
-- ARGV[2] process
-- ARGV[3] prefix of channels
-- ARGV[4] name of the scope as JSON
-- ARGV[5] 1 where the process had an answer for this scope lately, else 0|how long ago it last let in by itself in ms, or nothing
-- ARGV[6] id
-- ARGV[7] tokens
-- ARGV[8] micro-dollars
-- Returns {now, when to pump, notices, bookings (see finish() of the prelude), then 1 settled | 0 gone | -1 still waiting}
-- Above maxmemory Redis refuses a script's first write if it takes memory, but none after one that takes none: what frees capacity
-- goes through all the same.
call('HDEL', STATE, '')
open()
local entry, kind = entryOf(ARGV[6]), 0
if entry and entry.state == 'G' then
  settle(ARGV[6], entry, tonumber(ARGV[7]), tonumber(ARGV[8]), s.time)
  kind = 1
elseif entry and entry.state == 'W' then
  kind = -1
end
sweep()
pump()
return append(finish(), kind)
