-- Signs of life for ids, and what became of them; lets in whose time has come.
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
-- ARGV[6..] ids
-- Returns {now, when to pump, notices, bookings (see finish() of the prelude), then of each id its time where it is granted | 0 waiting | -1 gone}
-- Takes no memory, so that above maxmemory Redis refuses none of the writes that follow; see settle.lua.
call('HDEL', KEYS[1], '')
open(1, 1)
-- Before what is silent is swept away.
for index = 6, #ARGV do
  local entry = entryOf(ARGV[index])
  if entry and entry.state ~= 'X' then
    lease(ARGV[index], s.time + entry.leaseMs)
  end
end
if #ARGV > 5 then
  for index = 3, 8 do
    write(KEYS[index])
  end
end
sweep()
pump()
local answer = finish()
for index = 6, #ARGV do
  local entry = entryOf(ARGV[index])
  append(answer, entry and (entry.state == 'G' and entry.at or entry.state == 'W' and 0) or -1)
end
return answer
