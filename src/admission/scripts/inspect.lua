-- What is in use. What is over ends; where nothing is known, nothing is left behind.
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
-- Returns {now, open, queued, micro-dollars reserved, tokens reserved, held for ms, then of each budget spent; then of each window
--         requests, their limit, tokens, their limit}
open(1, 1)
sweep()
pump()
if not isNew then
  finish()
end
local answer = { s.time, s.open, s.queued, s.microUsd, s.tokens, max(0, s.heldUntil - s.time) }
for _, budget in ipairs(budgets) do
  append(answer, budget.spent)
end
return appendUsage(answer)
