-- When a call has room in the windows of the scope, and what share of them it takes.

-- Earliest by the pacer, with so much before it.
local function paced(w, requests, tokens)
  local burstMs = s.time < w.pacedUntil and 0 or w.burstMs
  if burstMs >= w.windowMs then
    return 0, 0
  end
  return w.requestLimit < huge and ceil(w.paceRequests + requests * w.windowMs / w.requestLimit - burstMs) or 0,
    w.tokenLimit < huge and ceil(w.paceTokens + tokens * w.windowMs / w.tokenLimit - burstMs) or 0
end

-- When a call has room in all windows, if that is within the look-ahead.
local function soon(tokens)
  local at = max(s.time, s.lastAt, s.heldUntil)
  for _, w in ipairs(windows) do
    local time = releasedSoon(w, w.requests + 1 - w.requestLimit, w.due + w.held + tokens - w.tokenLimit)
    if not time then
      return nil
    end
    at = max(at, time, paced(w, 0, 0))
  end
  return at <= s.time + lookAheadMs and at or nil
end

-- What must be released first, after so many whole windows: the calendar repeats itself.
local function fold(used, needed, limit)
  local excess, rounds = used + needed - limit, 0
  if excess > used then
    rounds = ceil((excess - used) / limit)
    excess = excess - rounds * limit
  end
  return excess, rounds
end

-- When a call of so many tokens has room behind so many calls and tokens; then the rule that says so, and whether that is exact.
local function roomAt(tokens, callsBefore, tokensBefore)
  local at, rule, isExact = max(s.time, s.lastAt), 'hold', true
  local function later(time, name, known)
    if time > at then
      at, rule, isExact = time, name, known
    end
  end
  later(s.heldUntil, 'hold', true)
  for _, w in ipairs(windows) do
    local needed, rounds = fold(w.requests, callsBefore + 1, w.requestLimit)
    local neededTokens, roundsOfTokens = fold(w.due + w.held, tokensBefore + tokens, w.tokenLimit)
    local time, timeOfTokens = released(w, needed, neededTokens)
    local pace, paceOfTokens = paced(w, callsBefore, tokensBefore)
    later(max((time or s.time + w.spanMs) + rounds * w.spanMs, pace), 'requests:' .. w.windowMs, true)
    local tokensAt = (timeOfTokens or s.time + w.spanMs) + roundsOfTokens * w.spanMs
    later(max(tokensAt, paceOfTokens), 'tokens:' .. w.windowMs, timeOfTokens ~= nil)
  end
  return at, rule, isExact
end

-- The share of what is scarcest that so many calls take, as a time.
local function costOf(calls, tokens, durationMs)
  local cost = durationMs / slots
  for _, w in ipairs(windows) do
    cost = max(cost, calls * w.windowMs / w.requestLimit, tokens * w.windowMs / w.tokenLimit)
  end
  return cost
end
