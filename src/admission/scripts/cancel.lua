-- Gives a place in the queue up, or undoes a grant whose call was never sent. An acquire that comes later is refused.
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
-- Returns {now, when to pump, notices, bookings (see finish() of the prelude), then 2 was granted | 1 waited | 0 unknown}
-- Takes no memory, so that above maxmemory Redis refuses none of the writes that follow; see settle.lua.
call('HDEL', KEYS[1], '')
open(1, 1)
sweep()
local id = ARGV[6]
local entry, kind = entryOf(id), 0
if entry and entry.state == 'G' then
  undo(id, entry)
  kind = 2
elseif entry and entry.state == 'W' then
  abandon(id, entry)
  kind = 1
end
call('HSET', write(RECORDS), id, 'X')
lease(id, s.time + TOMBSTONE_MS)
pump()
return append(finish(), kind)
