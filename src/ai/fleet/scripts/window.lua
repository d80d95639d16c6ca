-- What is left of the rate limits that providers tell in their answers.
-- KEYS[1..] cells
-- ARGV[1] channel of news
-- ARGV[2] process that asks
-- ARGV[3..] of each cell the revision that is known, the number of changes, and the changes: agoMs|unit|limit|remaining|resetInMs
-- Returns {ms of the store's clock, then of each cell '' as known | revision|end|body}
-- Body: of each unit that was told unit|limit|remaining|resetAt|saidAt, separated by commas
local MOMENT_MS, TOLD_MS = 1000, 180000
local UNITS = { 'requests', 'tokens', 'input-tokens', 'output-tokens' }

local function parse(body)
  local windows = {}
  for _, part in ipairs(body == '' and {} or split(body, ',')) do
    local f = split(part, '|')
    windows[f[1]] = { limit = tonumber(f[2]), remaining = tonumber(f[3]), resetAt = tonumber(f[4]), saidAt = tonumber(f[5]) }
  end
  return windows
end

local function replaces(known, said)
  if said.saidAt >= known.resetAt or said.saidAt >= known.saidAt + MOMENT_MS then
    return true
  end
  if said.saidAt <= known.saidAt - MOMENT_MS then
    return false
  end
  if math.abs(said.resetAt - known.resetAt) > MOMENT_MS then
    return said.resetAt > known.resetAt
  end
  return said.remaining < known.remaining
end

local function apply(body, fields, at)
  local windows, unit = parse(body), fields[1]
  local said = {
    limit = tonumber(fields[2]), remaining = tonumber(fields[3]), resetAt = at + tonumber(fields[4]), saidAt = at,
  }
  if not windows[unit] or replaces(windows[unit], said) then
    windows[unit] = said
  end
  local parts = {}
  for _, name in ipairs(UNITS) do
    local w = windows[name]
    if w then
      parts[#parts + 1] = table.concat({ name, text(w.limit), text(w.remaining), text(w.resetAt), text(w.saidAt) }, '|')
    end
  end
  return table.concat(parts, ',')
end

local function endOf(body)
  local ends = 0
  for _, window in pairs(parse(body)) do
    ends = math.max(ends, window.resetAt, window.saidAt + TOLD_MS)
  end
  return ends
end

return exchange({ name = 'window', apply = apply, endOf = endOf })
