-- Opening, sweeping, pumping and finishing a scope.

-- Days and months since some day, by the calendar of UTC (Howard Hinnant, chrono-compatible low-level date algorithms).
local function periodOf(name)
  local day = floor(s.time / 86400000)
  if name == 'day' then
    return day
  end
  local shifted = day + 719468
  local era = floor(shifted / 146097)
  local inEra = shifted - era * 146097
  local year = floor((inEra - floor(inEra / 1460) + floor(inEra / 36524) - floor(inEra / 146096)) / 365)
  local inYear = inEra - (365 * year + floor(year / 4) - floor(year / 100))
  return (era * 400 + year) * 12 + floor((5 * inYear + 2) / 153)
end

local function readBudgets()
  for unit, period, limit in string.gmatch(budgetsText, '(%a+),(%a+),(%d+);') do
    budgets[#budgets + 1] = { name = unit .. ':' .. period, unit = unit, limit = tonumber(limit), period = periodOf(period), spent = 0 }
  end
  for _, budget in ipairs(budgets) do
    local period, spent = string.match(call('HGET', BUDGETS, budget.name) or '-1|0', '^(-?%d+)|(%d+)$')
    if tonumber(period) >= budget.period then
      budget.period, budget.spent = tonumber(period), tonumber(spent)
    end
    budget.before = budget.spent
  end
end

-- A window that is new to a scope that is not, or to a scope that was known, starts at its pace.
local function readWindow(w, packed, isLost)
  local numbers = packed and { struct.unpack(WINDOW_FORMAT, packed) }
  for index, name in ipairs(WINDOW_NUMBERS) do
    w[name] = numbers and numbers[index] or 0
  end
  if not numbers then
    call('DEL', w.calendar)
    w.rolled = floor(s.time / w.bucketMs)
    if isLost then
      w.pacedUntil = s.time + w.spanMs
    end
  end
  if localMs then
    w.pacedUntil = max(w.pacedUntil, s.time + w.spanMs - localMs)
  end
  if w.learnedUntil > s.time then
    w.requestLimit, w.tokenLimit = min(w.requestLimit, w.learnedRequests), min(w.tokenLimit, w.learnedTokens)
  end
  roll(w)
end

local function readTime()
  local ms = floor(now() / 1000)
  s.offset = max(s.offset, s.time - ms)
  s.time = ms + s.offset
  local era = floor(s.time / eraMs)
  if era ~= s.era then
    call('DEL', FORMER)
    if era == s.era + 1 and call('EXISTS', RECENT) == 1 then
      call('RENAME', RECENT, FORMER)
    else
      call('DEL', RECENT)
    end
    s.era = era
  end
end

-- Ends what nobody gives signs of life for: what was granted is settled as it was estimated.
local function sweep()
  local over = call('ZRANGEBYSCORE', LEASES, '-inf', s.time, 'WITHSCORES', 'LIMIT', 0, ROUNDS)
  for index = 1, #over, 2 do
    local id = over[index]
    local entry = entryOf(id)
    if entry and entry.state == 'G' then
      settle(id, entry, entry.tokens, entry.microUsd, tonumber(over[index + 1]))
    elseif entry and entry.state == 'W' then
      abandon(id, entry)
      tell(entry.process, id, -1)
    else
      drop(id)
    end
  end
  if #over > 0 then
    s.pumpAt = s.time
  end
end

-- Everything of a scope, at this time.
local function open(firstKey, firstWord)
  begin(firstKey, firstWord)
  local fields = { 's' }
  for name, windowMs, spanMs, bucketMs, burstMs, requests, tokens in
    string.gmatch(windowsText, '((%d+)/(%d+)/(%d+)),(%d+),(%d*),(%d*);') do
    local w = { name = name, windowMs = tonumber(windowMs), spanMs = tonumber(spanMs), bucketMs = tonumber(bucketMs),
      burstMs = tonumber(burstMs), requestLimit = tonumber(requests) or huge, tokenLimit = tonumber(tokens) or huge }
    w.mostRequests, w.mostTokens, w.calendar = w.requestLimit, w.tokenLimit, KEYS[CALENDARS + #windows]
    windows[#windows + 1], fields[#fields + 1], eraMs = w, 'w' .. name, max(eraMs, w.spanMs)
  end
  local saved = call('HMGET', STATE, unpack(fields))
  local numbers = saved[1] and { struct.unpack(FORMAT, saved[1]) }
  for index, name in ipairs(NUMBERS) do
    s[name] = numbers and numbers[index] or 0
  end
  isNew = not numbers
  if isNew then
    call('DEL', STATE, RECORDS, LEASES, QUEUE, ACTIVE, FLOWS, RECENT, FORMER)
    saved = {}
  else
    s.pumper = numbers[#NUMBERS + 1]
  end
  readTime()
  for index, w in ipairs(windows) do
    readWindow(w, saved[index + 1], not isNew or wasSeen)
  end
  readBudgets()
end

-- True where the first waiter was let in, or was let go: then the next one is first.
local function admitFirst()
  local first = call('ZRANGE', ACTIVE, 0, 0, 'WITHSCORES')
  local flow, tag = first[1], tonumber(first[2])
  local member = call('ZRANGEBYLEX', QUEUE, '[' .. flow .. ':', '(' .. flow .. ';', 'LIMIT', 0, 1)[1]
  local id = string.match(member, '^[^:]*:[^:]*:(.*)$')
  local entry = entryOf(id)
  local isTooLarge = false
  for _, w in ipairs(windows) do
    isTooLarge = isTooLarge or entry.tokens > w.tokenLimit
  end
  if isTooLarge or entry.deadline < s.time then
    abandon(id, entry)
    tell(entry.process, id, -1)
    return true
  end
  if s.open >= slots then
    s.pumpAt = tonumber(call('ZRANGE', LEASES, 0, 0, 'WITHSCORES')[2])
    return false
  end
  local at = soon(entry.tokens)
  if not at then
    s.pumpAt = max(roomAt(entry.tokens, 0, 0) - lookAheadMs, s.time + max(1, floor(lookAheadMs / 2)))
    return false
  end
  dequeue(entry, id, grant(id, entry, at, tag))
  tell(entry.process, id, at)
  return true
end

-- Lets in whose time has come, in the order of the flows' tags.
local function pump()
  for _ = 1, ROUNDS do
    if s.queued == 0 or not admitFirst() then
      return
    end
  end
  s.pumpAt = s.time + 1
end

local function tellOthers()
  for process, list in pairs(notices) do
    if process ~= PROCESS then
      local words = {}
      for index, notice in ipairs(list) do
        words[index] = notice[1] .. '=' .. text(notice[2])
      end
      -- A refused publish (rights on the channel) must not break the script in its midst; a beat finds the grant.
      redis.pcall('PUBLISH', ARGV[3] .. process, text(s.time) .. '|' .. table.concat(words, ',') .. '|' .. scopeName)
    end
  end
end

-- Key expiry only collects garbage; a reservation of money is kept until somebody can book it.
local function writeBack()
  local longestMs = eraMs
  local isOpen = s.open + s.queued > 0
  local keepMs = max(2 * longestMs + SLACK_MS, s.leasesUntil - s.time + SLACK_MS, isOpen and #budgets > 0 and BUDGET_MS or 0)
  local fields = { 's' }
  local numbers = {}
  for index, name in ipairs(NUMBERS) do
    numbers[index] = s[name]
  end
  numbers[#numbers + 1] = s.pumper
  fields[2] = struct.pack(FORMAT, unpack(numbers))
  for _, w in ipairs(windows) do
    for index, name in ipairs(WINDOW_NUMBERS) do
      numbers[index] = w[name]
    end
    fields[#fields + 1] = 'w' .. w.name
    fields[#fields + 1] = struct.pack(WINDOW_FORMAT, unpack(numbers, 1, #WINDOW_NUMBERS))
  end
  call('HSET', write(STATE), unpack(fields))
  for key in pairs(written) do
    call('PEXPIRE', key, text(keepMs))
  end
  for _, budget in ipairs(isBooked and budgets or {}) do
    call('HSET', BUDGETS, budget.name, text(budget.period) .. '|' .. text(budget.spent))
    call('PEXPIRE', BUDGETS, text(BUDGET_MS))
  end
end

-- Writes everything back and tells who was let in. Gives the beginning of every answer: now, when to pump or -1, number of notices and
-- of each id and time, number of bookings and of each spent before and after.
local function finish()
  if s.queued == 0 then
    s.pumper, s.pumperUntil, s.pumpAt = '', 0, 0
  end
  local isPumper = s.queued > 0 and PROCESS ~= '' and (s.pumper == PROCESS or s.time >= s.pumperUntil)
  if isPumper then
    s.pumper, s.pumperUntil = PROCESS, s.time + PUMPER_MS
  end
  writeBack()
  tellOthers()
  local own = notices[PROCESS] or {}
  local answer = { s.time, isPumper and max(1, s.pumpAt - s.time) or -1, #own }
  for _, notice in ipairs(own) do
    answer[#answer + 1], answer[#answer + 2] = notice[1], notice[2]
  end
  answer[#answer + 1] = isBooked and #budgets or 0
  for _, budget in ipairs(isBooked and budgets or {}) do
    answer[#answer + 1], answer[#answer + 2] = budget.before, budget.spent
  end
  return answer
end

local function append(answer, ...)
  for _, value in ipairs({ ... }) do
    answer[#answer + 1] = value
  end
  return answer
end

-- Of each window what is in use, and the limits in force; -1 for none.
local function appendUsage(answer)
  for _, w in ipairs(windows) do
    append(answer, w.requests, w.requestLimit == huge and -1 or w.requestLimit, w.due + w.held,
      w.tokenLimit == huge and -1 or w.tokenLimit)
  end
  return answer
end
