-- Reservations: granted, settled, undone or given up.

-- W|flow|weight|tokens|process|microUsd|leaseMs|deadline|number|expected at|rule
-- G|flow|weight|tokens|process|microUsd|leaseMs|at|cost|token rule|windows
local function entryOf(id)
  local value = call('HGET', RECORDS, id)
  if not value then
    return nil
  end
  local f = {}
  for part in string.gmatch(value, '[^|]+') do
    f[#f + 1] = part
  end
  local entry = { state = f[1], flow = f[2], weight = tonumber(f[3]), weightText = f[3], tokens = tonumber(f[4]), process = f[5],
    microUsd = tonumber(f[6]), leaseMs = tonumber(f[7]) }
  if entry.state == 'W' then
    entry.deadline, entry.number, entry.at, entry.rule = tonumber(f[8]), f[9], tonumber(f[10]), f[11]
  elseif entry.state == 'G' then
    entry.at, entry.cost, entry.tokenRule, entry.windows = tonumber(f[8]), tonumber(f[9]), f[10], f[11]
  end
  return entry
end

local function save(id, entry, ...)
  call('HSET', write(RECORDS), id, table.concat({ entry.state, entry.flow, entry.weightText, text(entry.tokens), entry.process,
    text(entry.microUsd), text(entry.leaseMs), ... }, '|'))
end

local function lease(id, untilMs)
  call('ZADD', write(LEASES), untilMs, id)
  s.leasesUntil = max(s.leasesUntil, untilMs)
end

local function drop(id)
  call('HDEL', write(RECORDS), id)
  call('ZREM', write(LEASES), id)
end

local function reserve(entry, sign)
  s.microUsd, s.tokens = s.microUsd + sign * entry.microUsd, s.tokens + sign * entry.tokens
end

-- at: a time, or -1 where it waits no longer.
local function tell(process, id, at)
  notices[process] = notices[process] or {}
  table.insert(notices[process], { id, at })
end

local function grant(id, entry, at, tag)
  local _, meanMs = historyOf(entry.flow)
  local cost, names = costOf(1, entry.tokens, expected(meanMs)), {}
  local isScheduled = tokenRule == 'adm' or tokenRule == 'own'
  for index, w in ipairs(windows) do
    add(w, ceil((at + w.spanMs) / w.bucketMs), 1, isScheduled and entry.tokens or 0)
    w.held = w.held + (isScheduled and 0 or entry.tokens)
    w.paceRequests = max(w.paceRequests, at) + w.windowMs / w.requestLimit
    w.paceTokens = max(w.paceTokens, at) + entry.tokens * w.windowMs / w.tokenLimit
    names[index] = w.name
  end
  s.open, s.virtual, s.lastAt = s.open + 1, max(s.virtual, tag), at
  entry.state = 'G'
  save(id, entry, text(at), exact(cost), tokenRule, table.concat(names, '+'))
  lease(id, at + entry.leaseMs)
  return tag + cost / entry.weight
end

-- Each window that the grant was charged on: change() of one that this command has, held tokens given back in any other.
local function eachCharged(entry, change)
  local known = {}
  for _, w in ipairs(windows) do
    known[w.name] = w
  end
  for name in string.gmatch(entry.windows or '', '[^+]+') do
    local w = known[name]
    if w then
      change(w, ceil((entry.at + w.spanMs) / w.bucketMs))
    elseif entry.tokenRule == 'safe' or entry.tokenRule == 'cmp' then
      local packed = call('HGET', STATE, 'w' .. name)
      local numbers = packed and { struct.unpack(WINDOW_FORMAT, packed) }
      if numbers then
        numbers[3] = numbers[3] - entry.tokens
        call('HSET', STATE, 'w' .. name, struct.pack(WINDOW_FORMAT, unpack(numbers, 1, #WINDOW_NUMBERS)))
      end
    end
  end
end

-- What a call takes once it has ended.
local function charge(w, entry, tokens, endedAt, releasedIn)
  local endsIn, isCharged = ceil((endedAt + w.spanMs) / w.bucketMs), releasedIn > w.rolled
  local rule, change = entry.tokenRule, tokens - entry.tokens
  local rest = 0
  if rule == 'adm' then
    rest = max(0, change)
  elseif rule == 'own' then
    add(w, releasedIn, 0, isCharged and change or 0)
  else
    w.held, rest = w.held - entry.tokens, tokens
    add(w, releasedIn, 0, rule == 'safe' and isCharged and max(0, -change) or 0)
  end
  add(w, endsIn, 0, endsIn > w.rolled and rest or 0)
  if rule == 'own' or rule == 'cmp' then
    w.paceTokens = w.paceTokens + change * w.windowMs / w.tokenLimit
  end
end

local function book(microUsd, tokens)
  for _, budget in ipairs(budgets) do
    budget.spent = budget.spent + (budget.unit == 'usd' and microUsd or tokens)
  end
  isBooked = isBooked or microUsd > 0 or tokens > 0
end

local function settle(id, entry, tokens, microUsd, endedAt)
  drop(id)
  s.open = s.open - 1
  reserve(entry, -1)
  book(microUsd, tokens)
  eachCharged(entry, function(w, releasedIn)
    charge(w, entry, tokens, endedAt, releasedIn)
  end)
  local isRefunded = entry.tokenRule == 'own' or entry.tokenRule == 'cmp'
  local durationMs = max(0, endedAt - entry.at)
  correct(entry, costOf(1, isRefunded and tokens or max(tokens, entry.tokens), durationMs), durationMs)
end

-- As if it had never been granted.
local function undo(id, entry)
  drop(id)
  s.open = s.open - 1
  reserve(entry, -1)
  local isScheduled = entry.tokenRule == 'adm' or entry.tokenRule == 'own'
  eachCharged(entry, function(w, releasedIn)
    if releasedIn > w.rolled then
      add(w, releasedIn, -1, isScheduled and -entry.tokens or 0)
    end
    w.held = w.held - (isScheduled and 0 or entry.tokens)
    w.paceRequests = w.paceRequests - w.windowMs / w.requestLimit
    w.paceTokens = w.paceTokens - entry.tokens * w.windowMs / w.tokenLimit
  end)
  correct(entry, 0, nil)
end

local function abandon(id, entry)
  drop(id)
  reserve(entry, -1)
  dequeue(entry, id, tonumber(call('ZSCORE', ACTIVE, entry.flow)))
end
