-- What the scripts of the fleet share. It stands behind now() and in front of each of them. A cell is a text, revision|end|body:
-- the revision rises with each change and is the time of it in microseconds at least, the end is in milliseconds, and an empty body
-- is nothing. A script gives its rules to exchange(); they say of a body what the topic of the same name says in TypeScript.
-- The numbers here and in the scripts are those of fleet.limits.ts; a spec compares them.
-- KEYS[1..] cells
local EMPTY_MS, CLOCK_STEP_MS, SLACK_MS = 60000, 1000, 1000

local call = redis.call
local us = now()
local ms = math.floor(us / 1000)

-- Never `..` or tostring: Lua writes a large number with 14 digits.
local function text(number)
  return string.format('%.0f', number)
end

local function split(whole, separator)
  local parts = {}
  for part in string.gmatch(whole .. separator, '([^' .. separator .. ']*)' .. separator) do
    parts[#parts + 1] = part
  end
  return parts
end

-- What another clock wrote in the future is forgotten, as what is over.
local function read(key)
  local whole = call('GET', key)
  if not whole then
    return { revision = 0, ends = 0, body = '' }
  end
  local revision, ends, body = string.match(whole, '^(%d+)|(%d+)|(.*)$')
  local cell = { revision = tonumber(revision), ends = tonumber(ends), body = body }
  if ms >= cell.ends or us < cell.revision - CLOCK_STEP_MS * 1000 then
    return { revision = 0, ends = 0, body = '' }
  end
  return cell
end

local function format(cell)
  return table.concat({ text(cell.revision), text(cell.ends), cell.body }, '|')
end

-- The cell with another body; the same where that makes no difference.
local function changed(cell, body, ends)
  if ends <= ms then
    body = ''
  end
  if body == cell.body and (body == '' or ends <= cell.ends) then
    return cell
  end
  return { revision = math.max(cell.revision + 1, us), ends = body == '' and ms + EMPTY_MS or ends, body = body }
end

-- rules.apply(body, fields, at) and rules.endOf(body): of one change, whose fields were split at bars; bodies are '' for nothing.
-- rules.isNews(before, after): other processes are told.
local function exchange(rules)
  local answer, word, isNews = { ms }, 3, false
  for index, key in ipairs(KEYS) do
    local cell = read(key)
    local seen, count = ARGV[word], tonumber(ARGV[word + 1])
    local body = cell.body
    for step = word + 2, word + 1 + count do
      local fields = split(ARGV[step], '|')
      local at = ms - tonumber(table.remove(fields, 1))
      body = rules.apply(body, fields, at)
    end
    word = word + 2 + count
    local after = count == 0 and cell or changed(cell, body, body == '' and 0 or rules.endOf(body))
    if after ~= cell then
      call('SET', key, format(after), 'PX', text(after.ends - ms + SLACK_MS))
      isNews = isNews or (rules.isNews and rules.isNews(cell.body, after.body))
    end
    answer[index + 1] = text(after.revision) == seen and '' or format(after)
  end
  if isNews then
    -- A refused publish (rights on the channel) must not break the script in its midst; the others read it within a second.
    redis.pcall('PUBLISH', ARGV[1], rules.name .. '|' .. ARGV[2])
  end
  return answer
end
