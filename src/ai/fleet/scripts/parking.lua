-- Keys that are out: the latest word counts.
-- KEYS[1..] cells
-- ARGV[1] channel of news
-- ARGV[2] process that asks
-- ARGV[3..] of each cell the revision that is known, the number of changes, and the changes: agoMs|reason|forMs
-- Returns {ms of the store's clock, then of each cell '' as known | revision|end|body}
-- Body: reason|until|saidAt
local PARKING_MEMORY_MS = 60000

local function apply(body, fields, at)
  local forMs = tonumber(fields[2])
  if body == '' and forMs == 0 or body ~= '' and at < tonumber(split(body, '|')[3]) then
    return body
  end
  return table.concat({ fields[1], text(at + forMs), text(at) }, '|')
end

local function endOf(body)
  return tonumber(split(body, '|')[2]) + PARKING_MEMORY_MS
end

local function isNews(before, after)
  local b, a = split(before, '|'), split(after, '|')
  return b[1] ~= a[1] or b[2] ~= a[2]
end

return exchange({ name = 'parking', apply = apply, endOf = endOf, isNews = isNews })
