-- By how much providers count more tokens than we do, in millionths: up fast, down slowly.
-- KEYS[1..] cells
-- ARGV[1] channel of news
-- ARGV[2] process that asks
-- ARGV[3..] of each cell the revision that is known, the number of changes, and the changes: agoMs|ratio
-- Returns {ms of the store's clock, then of each cell '' as known | revision|end|body}
-- Body: ratio
local RATIO_MS, RATIO_RISE, RATIO_FALL = 604800000, 8, 64
local LEAST, MOST, UNKNOWN = 500000, 3000000, 1000000

local function apply(body, fields)
  local ratio = body == '' and UNKNOWN or tonumber(body)
  local distance = math.min(MOST, math.max(LEAST, tonumber(fields[1]))) - ratio
  return text(ratio + (distance > 0 and math.ceil(distance / RATIO_RISE) or math.floor(distance / RATIO_FALL)))
end

local function endOf()
  return ms + RATIO_MS
end

return exchange({ name = 'ratio', apply = apply, endOf = endOf })
