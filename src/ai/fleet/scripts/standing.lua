-- How deployments have done lately: the breaker.
-- KEYS[1..] cells
-- ARGV[1] channel of news
-- ARGV[2] process that asks
-- ARGV[3..] of each cell the revision that is known, the number of changes, and the changes: agoMs|F|tookMs|retryAfterMs|code, agoMs|S|tookMs,
--         agoMs|C|process|leaseMs or agoMs|L|process
-- Returns {ms of the store's clock, then of each cell '' as known | revision|end|body}
-- Body: since|openUntil|openings|code|prober|probeUntil|strikes separated by commas
local STRIKES, STRIKE_WINDOW_MS, FIRST_OPEN_MS, LONGEST_OPEN_MS = 3, 30000, 5000, 60000
local LONGEST_RETRY_AFTER_MS, HALF_OPEN_MS, RECOVERY_MS = 300000, 600000, 150000

local function parse(body)
  local f = split(body == '' and '0|0|0|||0|' or body, '|')
  local standing = {
    since = tonumber(f[1]), openUntil = tonumber(f[2]), openings = tonumber(f[3]), code = f[4],
    prober = f[5], probeUntil = tonumber(f[6]), strikes = {},
  }
  for strike in string.gmatch(f[7], '%d+') do
    table.insert(standing.strikes, tonumber(strike))
  end
  return standing
end

local function body(s)
  local strikes = {}
  for index, strike in ipairs(s.strikes) do
    strikes[index] = text(strike)
  end
  return table.concat({ text(s.since), text(s.openUntil), text(s.openings), s.code, s.prober, text(s.probeUntil),
    table.concat(strikes, ',') }, '|')
end

local function after(strikes, time)
  local left = {}
  for _, strike in ipairs(strikes) do
    if strike > time then
      left[#left + 1] = strike
    end
  end
  return left
end

local function opened(at, forMs, openings, code)
  return { since = at, openUntil = at + forMs, openings = openings, code = code, prober = '', probeUntil = 0, strikes = {} }
end

local function failed(s, at, tookMs, retryAfterMs, code)
  local askedMs = math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS)
  if at < s.openUntil then
    s.openUntil = math.max(s.openUntil, at + askedMs)
    return s
  end
  if at < s.since or (askedMs == 0 and at - tookMs < s.since) then
    return s
  end
  if askedMs > 0 then
    return opened(at, askedMs, math.max(1, s.openings), code)
  end
  if s.openings > 0 then
    return opened(at, math.min(FIRST_OPEN_MS * 2 ^ s.openings, LONGEST_OPEN_MS), s.openings + 1, code)
  end
  s.strikes = after(s.strikes, at - STRIKE_WINDOW_MS)
  table.insert(s.strikes, at)
  s.code = code
  return #s.strikes < STRIKES and s or opened(at, FIRST_OPEN_MS, 1, code)
end

local function succeeded(s, at, beganAt)
  if s.openings == 0 then
    s.strikes = after(s.strikes, at)
  elseif at >= s.openUntil and beganAt >= s.since then
    local closed = parse('')
    closed.since = at
    return closed
  end
  return s
end

local function apply(before, fields, at)
  local s, kind = parse(before), fields[1]
  if kind == 'F' then
    s = failed(s, at, tonumber(fields[2]), tonumber(fields[3]), fields[4])
  elseif kind == 'S' then
    s = succeeded(s, at, at - tonumber(fields[2]))
  elseif kind == 'L' and s.prober == fields[2] then
    s.prober, s.probeUntil = '', 0
  elseif kind == 'C' and s.openings > 0 and at >= s.openUntil and (s.prober == fields[2] or at >= s.probeUntil) then
    s.prober, s.probeUntil = fields[2], at + tonumber(fields[3])
  end
  -- Nobody has anything against it.
  return s.since == 0 and #s.strikes == 0 and '' or body(s)
end

local function endOf(text)
  local s = parse(text)
  if s.openings > 0 then
    return s.openUntil + HALF_OPEN_MS
  end
  local ends = s.since == 0 and 0 or s.since + RECOVERY_MS
  for _, strike in ipairs(s.strikes) do
    ends = math.max(ends, strike + STRIKE_WINDOW_MS)
  end
  return ends
end

local function isNews(before, now)
  local b, n = parse(before), parse(now)
  return b.openUntil ~= n.openUntil or b.since ~= n.since
end

return exchange({ name = 'standing', apply = apply, endOf = endOf, isNews = isNews })
