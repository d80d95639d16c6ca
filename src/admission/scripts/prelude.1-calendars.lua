-- What is in use of a window, by the bucket of time in which it is released.

local function slot(w, index)
  w.ring = w.ring or call('GET', w.calendar) or ''
  local from = index * 4 + 1
  return from + 3 > #w.ring and 0 or (struct.unpack('>i4', w.ring, from))
end

-- Charges of the window that are released in the bucket.
local function add(w, bucket, requests, tokens)
  w.requests, w.due = w.requests + requests, w.due + tokens
  local fine, group = 2 * (bucket % RING), 2 * RING + 2 * (floor(bucket / GROUP) % GROUPS)
  local steps = {}
  for offset, amount in pairs({ [0] = requests, [1] = tokens }) do
    if amount ~= 0 then
      for _, index in ipairs({ fine + offset, group + offset }) do
        for _, word in ipairs({ 'INCRBY', 'i32', '#' .. index, amount }) do
          steps[#steps + 1] = word
        end
      end
    end
  end
  if #steps > 0 then
    call('BITFIELD', write(w.calendar), unpack(steps))
    w.ring, w.near = nil, nil
  end
end

-- Releases what is over; what was not rolled for a whole ring is over altogether.
local function roll(w)
  local from, bucket = w.rolled, floor(s.time / w.bucketMs)
  w.rolled = bucket
  if bucket - from >= RING then
    w.requests, w.due = 0, 0
    call('DEL', w.calendar)
  elseif bucket > from and (w.requests ~= 0 or w.due ~= 0) then
    local over = {}
    local function collect(index)
      local amount = slot(w, index)
      over[#over + 1] = amount ~= 0 and index or nil
      return amount
    end
    for at = from + 1, bucket do
      w.requests = w.requests - collect(2 * (at % RING))
      w.due = w.due - collect(2 * (at % RING) + 1)
    end
    for group = floor(from / GROUP), floor(bucket / GROUP) - 1 do
      collect(2 * RING + 2 * (group % GROUPS))
      collect(2 * RING + 2 * (group % GROUPS) + 1)
    end
    for _, index in ipairs(over) do
      call('SETRANGE', write(w.calendar), index * 4, '\0\0\0\0')
      w.ring = nil
    end
  end
end

-- When so many requests, and so many tokens, will have been released; nil: the calendar does not know of so many.
local function released(w, requests, tokens)
  local atRequests, atTokens = requests <= 0 and s.time or nil, tokens <= 0 and s.time or nil
  local sumRequests, sumTokens = 0, 0
  local function look(from, to)
    for bucket = from, to do
      local index = 2 * (bucket % RING)
      sumRequests, sumTokens = sumRequests + slot(w, index), sumTokens + slot(w, index + 1)
      atRequests = atRequests or sumRequests >= requests and bucket * w.bucketMs or nil
      atTokens = atTokens or sumTokens >= tokens and bucket * w.bucketMs or nil
    end
  end
  local group = floor((w.rolled + 1) / GROUP)
  local last = floor((w.rolled + ceil((w.spanMs + lookAheadMs) / w.bucketMs) + 1) / GROUP)
  if not (atRequests and atTokens) then
    look(w.rolled + 1, group * GROUP + GROUP - 1)
  end
  while not (atRequests and atTokens) and group < last do
    group = group + 1
    local index = 2 * RING + 2 * (group % GROUPS)
    local nextRequests, nextTokens = sumRequests + slot(w, index), sumTokens + slot(w, index + 1)
    if not atRequests and nextRequests >= requests or not atTokens and nextTokens >= tokens then
      look(group * GROUP, group * GROUP + GROUP - 1)
    end
    sumRequests, sumTokens = nextRequests, nextTokens
  end
  return atRequests, atTokens
end

-- The same within the look-ahead, read once.
local function releasedSoon(w, requests, tokens)
  if requests <= 0 and tokens <= 0 then
    return s.time
  end
  if not w.near then
    w.near = {}
    local sumRequests, sumTokens = 0, 0
    for bucket = w.rolled + 1, floor((s.time + lookAheadMs) / w.bucketMs) do
      local index = 2 * (bucket % RING)
      sumRequests, sumTokens = sumRequests + slot(w, index), sumTokens + slot(w, index + 1)
      w.near[#w.near + 1] = { sumRequests, sumTokens, bucket * w.bucketMs }
    end
  end
  for _, sum in ipairs(w.near) do
    if sum[1] >= requests and sum[2] >= tokens then
      return sum[3]
    end
  end
  return nil
end
