-- Looks for an answer; where there is none, joins the flight or begins it.
-- KEYS[1] answers of the shelf
-- KEYS[2] ends of the answers
-- KEYS[3] flight
-- ARGV[1] purpose
-- ARGV[2] token of the asker; empty: he neither joins nor begins
-- ARGV[3] process of the asker
-- ARGV[4..] names of answers, the best one first
-- Returns {1, text of the answer} | {0} the flight is the asker's | {2, token of its leader} | {-1} it is for another purpose |
--         {-2} there is no answer
for index = 4, #ARGV do
  local ends = call('ZSCORE', KEYS[2], ARGV[index])
  if ends and ms < tonumber(ends) then
    local answer = call('HGET', KEYS[1], ARGV[index])
    if answer then
      local bar = string.find(answer, '|', 1, true)
      if string.sub(answer, 1, bar - 1) ~= ARGV[1] then
        return { -1 }
      end
      return { 1, string.sub(answer, bar + 1) }
    end
  end
end
if ARGV[2] == '' then
  return { -2 }
end
local token, purpose = leaderOf(KEYS[3])
if token then
  if purpose ~= ARGV[1] then
    return { -1 }
  end
  if token == ARGV[2] then
    return { 0 }
  end
  call('HSET', KEYS[3], 'w:' .. ARGV[3], text(ms + INTEREST_MS))
  return { 2, token }
end
call('DEL', KEYS[3])
call('HSET', KEYS[3], 't', ARGV[2], 'p', ARGV[1], 'u', text(ms + LEASE_MS))
call('PEXPIRE', KEYS[3], LEASE_MS + SLACK_MS)
return { 0 }
