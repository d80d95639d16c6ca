-- What the scripts of admission share, in six parts. They stand behind now() and in front of each script, which opens the scope,
-- changes it, and finishes. The numbers are those of admission.limits.ts; a spec compares them. Times are milliseconds.
-- KEYS[1] state: hash; s the numbers below and the process that pumps, w<window> those of a window
-- KEYS[2] budgets: hash; <unit>:<period> = number of the period|spent
-- KEYS[3] records: hash; id = W waiting, G granted or X cancelled before it came, and what belongs to it separated by bars
-- KEYS[4] leases: ids by the end of their lease
-- KEYS[5] queue: flow:number:id, all with score 0, so that a flow's first comes first
-- KEYS[6] flows that wait, by their tags: the start-time fair queue
-- KEYS[7] flows that wait: hash; flow = calls|tokens|weight
-- KEYS[8] flows of this era: hash; flow = tag|mean duration of its calls. An era is the longest window, at least a minute.
-- KEYS[9] flows of the era before
-- KEYS[10..] calendars by the order of the windows: a ring of buckets, each with requests and tokens that are released in it, then
--            the sums of groups of buckets, all 32-bit numbers
local RING, GROUP, GROUPS, ROUNDS, CROWD, BACKLOG, SPARSE = 640, 10, 64, 64, 128, 4, 8
local PUMPER_MS, TOMBSTONE_MS, ERA_MS, SLACK_MS, BUDGET_MS, GUESS_MS = 1500, 30000, 60000, 60000, 3456000000, 1000

local call = redis.call
local floor, ceil, max, min, huge = math.floor, math.ceil, math.max, math.min, math.huge
local PROCESS = ARGV[2]

local NUMBERS = { 'time', 'offset', 'open', 'virtual', 'number', 'queued', 'queuedTokens', 'meanMs', 'pumperUntil', 'pumpAt',
  'lastAt', 'heldUntil', 'leasesUntil', 'era', 'microUsd', 'tokens' }
local WINDOW_NUMBERS = { 'requests', 'due', 'held', 'rolled', 'paceRequests', 'paceTokens', 'pacedUntil', 'learnedRequests',
  'learnedTokens', 'learnedUntil' }
local FORMAT, WINDOW_FORMAT = '>' .. string.rep('d', #NUMBERS) .. 's', '>' .. string.rep('d', #WINDOW_NUMBERS)

-- The scope that is open: its keys, its rules, what the process knows of it (whether it was in use, and how long ago this process let
-- in what is not counted here), and all that was read, changed and is to be told of it.
local STATE, BUDGETS, RECORDS, LEASES, QUEUE, ACTIVE, FLOWS, RECENT, FORMER, CALENDARS
local tokenRule, slots, lookAheadMs, windowsText, budgetsText, scopeName, wasSeen, localMs
local s, windows, budgets, eraMs, notices, written, isBooked, isNew

-- The keys and words of a scope stand from these on.
local function begin(firstKey, firstWord)
  STATE, BUDGETS, RECORDS, LEASES, QUEUE, ACTIVE, FLOWS, RECENT, FORMER = unpack(KEYS, firstKey, firstKey + 8)
  CALENDARS = firstKey + 9
  local slotsText, lookAheadText, seenText, localText
  tokenRule, slotsText, lookAheadText, windowsText, budgetsText =
    string.match(ARGV[firstWord], '^(%a+)|(%d*)|(%d+)|([^|]*)|(.*)$')
  slots, lookAheadMs, scopeName = tonumber(slotsText) or huge, tonumber(lookAheadText), ARGV[firstWord + 3]
  seenText, localText = string.match(ARGV[firstWord + 4], '^(%d)|(%d*)$')
  wasSeen, localMs = seenText == '1', tonumber(localText)
  s, windows, budgets, eraMs = { pumper = '' }, {}, {}, ERA_MS
  notices, written, isBooked, isNew = {}, {}, false, false
end

-- Lua itself writes 14 digits: whole numbers, and those that must be read as they were.
local function text(number)
  return string.format('%.0f', number)
end
local function exact(number)
  return string.format('%.17g', number)
end

local function write(key)
  written[key] = true
  return key
end
