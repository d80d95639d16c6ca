-- What keys are worth: by the last check, less what was spent since.
-- KEYS[1..] cells
-- ARGV[1] channel of news
-- ARGV[2] process that asks
-- ARGV[3..] of each cell the revision that is known, the number of changes, and the changes: agoMs|C|tier|unit|left, agoMs|U or agoMs|S|unit|amount
-- Returns {ms of the store's clock, then of each cell '' as known | revision|end|body}
-- Body: tier|unit|left|most|1 stale, else 0|checkedAt
local USAGE_MS, ASSUMED_REQUESTS = 86400000, 1000

local function parse(body)
  local f = split(body, '|')
  return { tier = f[1], unit = f[2], left = tonumber(f[3]), most = tonumber(f[4]), isStale = f[5], checkedAt = tonumber(f[6]) }
end

local function format(w)
  return table.concat({ w.tier, w.unit, text(w.left), text(w.most), w.isStale, text(w.checkedAt) }, '|')
end

local function spent(known, unit, amount)
  if known.unit == unit and known.left > 0 then
    known.left = math.max(0, known.left - amount)
  end
  return known
end

local function apply(body, fields, at)
  local kind, known = fields[1], body ~= '' and parse(body)
  if kind == 'S' then
    return known and format(spent(known, fields[2], tonumber(fields[3]))) or ''
  end
  if known and at < known.checkedAt then
    return body
  end
  if kind == 'U' then
    known = known or { tier = 'free', unit = 'requests', left = ASSUMED_REQUESTS, most = -1 }
    known.isStale, known.checkedAt = '1', at
    return format(known)
  end
  local left = tonumber(fields[4])
  local most = known and known.unit == fields[3] and math.max(known.most, left) or left
  return format({ tier = fields[2], unit = fields[3], left = left, most = most, isStale = '0', checkedAt = at })
end

local function endOf()
  return ms + USAGE_MS
end

local function isNews(before, after)
  return split(before, '|')[1] ~= split(after, '|')[1]
end

return exchange({ name = 'usage', apply = apply, endOf = endOf, isNews = isNews })
