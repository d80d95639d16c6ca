-- Reads events of a turn, and notes who is to be told of more.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- KEYS[5] events
-- ARGV[1] owner
-- ARGV[2] token
-- ARGV[3] its first seq
-- ARGV[4] id of the last event that is known; 0: none
-- ARGV[5] how many at most
-- ARGV[6] process that reads along, or ''
-- Returns {status: r running, c, i or f, 1 if none is missing, else 0, then of each event id, name and data} | {} missing
local first, after = tonumber(ARGV[3]), tonumber(ARGV[4])
if not open() then
  return {}
end
local turn, isKept, status = running(ARGV[2], first), true, 'r'
if turn and ARGV[6] ~= '' then
  call('HSET', TURN, 'w:' .. ARGV[6], '')
end
if not turn then
  local found = logged(ARGV[2], first)
  if not found then
    return {}
  end
  local last = parts(found[#found][2][2])
  status, isKept = last.status, ms < last.created + EVENTS_MS
end
local seen = isKept and call('XRANGE', KEYS[5], text(after + 1) .. '-0', '+', 'COUNT', ARGV[5]) or {}

local function isWhole()
  if seen[1] then
    return seqOf(seen[1]) == after + 1
  end
  if turn and turn.events <= after then
    return true
  end
  local newest = isKept and call('XREVRANGE', KEYS[5], '+', '-', 'COUNT', 1)[1]
  return newest and seqOf(newest) <= after
end

local answer = { status, isWhole() and 1 or 0 }
for _, entry in ipairs(seen) do
  append(answer, { seqOf(entry), entry[2][2], entry[2][4] })
end
return answer
