-- The last samples of how long calls take, oldest first.
-- KEYS[1..] cells
-- ARGV[1] channel of news
-- ARGV[2] process that asks
-- ARGV[3..] of each cell the revision that is known, the number of changes, and the changes: agoMs|sample
-- Returns {ms of the store's clock, then of each cell '' as known | revision|end|body}
-- Body: samples separated by commas
local SAMPLES, LATENCY_MS = 100, 86400000

local function apply(body, fields)
  if body == '' then
    return fields[1]
  end
  local _, commas = string.gsub(body, ',', ',')
  if commas + 1 >= SAMPLES then
    body = string.sub(body, string.find(body, ',', 1, true) + 1)
  end
  return body .. ',' .. fields[1]
end

local function endOf()
  return ms + LATENCY_MS
end

return exchange({ name = 'latency', apply = apply, endOf = endOf })
