-- A leader's sign of life for some of his flights.
-- KEYS[1..] flights
-- ARGV[1..] his token at each
-- Returns of each how many processes wait for it, or -1: it is not his any more
local answer = {}
for index, flight in ipairs(KEYS) do
  if leaderOf(flight) == ARGV[index] then
    call('HSET', flight, 'u', text(ms + LEASE_MS))
    call('PEXPIRE', flight, LEASE_MS + SLACK_MS)
    answer[index] = #waitersOf(flight)
  else
    answer[index] = -1
  end
end
return answer
