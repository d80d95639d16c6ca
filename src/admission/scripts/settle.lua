-- Books what calls took, each once, and lets the next ones in: in one scope or several of one hash slot.
-- KEYS[1] state
-- KEYS[2] budgets
-- KEYS[3] records
-- KEYS[4] leases
-- KEYS[5] queue
-- KEYS[6] flows that wait, by their tags
-- KEYS[7] flows that wait
-- KEYS[8] flows of this era
-- KEYS[9] flows of the era before
-- KEYS[10..] calendars; then the same of the next scope
-- ARGV[1] rules: token rule|slots|look-ahead in ms|window/span/bucket in ms,burst in ms,requests,tokens;...|unit,period,limit;...
-- ARGV[2] process
-- ARGV[3] prefix of channels
-- ARGV[4] name of the scope as JSON
-- ARGV[5] 1 where the process had an answer for this scope lately, else 0|how long ago it last let in by itself in ms, or nothing
-- ARGV[6] how many calls
-- ARGV[7..] of each its id, tokens, micro-dollars; then the same of the next scope
-- Returns of each scope {now, when to pump, notices, bookings (see finish() of the prelude)}, then of each call
--         {1} settled | {0} gone | {-1} still waiting
-- Above maxmemory Redis refuses a script's first write if it takes memory, but none after one that takes none: what frees capacity
-- goes through all the same.
local WORDS = 3
call('HDEL', KEYS[1], '')

local function kindOf(id, tokens, microUsd)
  local entry = entryOf(id)
  if entry and entry.state == 'G' then
    settle(id, entry, tonumber(tokens), tonumber(microUsd), s.time)
    return 1
  end
  return entry and entry.state == 'W' and -1 or 0
end

local answer, key, word = {}, 1, 1
while word <= #ARGV do
  open(key, word)
  local first, own = word + 6, {}
  key, word = CALENDARS + #windows, first + WORDS * ARGV[word + 5]
  for at = first, word - 1, WORDS do
    own[#own + 1] = { kindOf(ARGV[at], ARGV[at + 1], ARGV[at + 2]) }
    sweep()
    pump()
  end
  append(answer, finish(), unpack(own))
end
return answer
