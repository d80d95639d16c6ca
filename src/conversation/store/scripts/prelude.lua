-- What the scripts of a conversation share. It stands behind now() and in front of each of them.
-- KEYS[1] hash: the conversation. base is the seq before the first message that is left, fence the largest that was seen, ends the
--         time in ms from which on it is over (0: never), head seq|model of the last window
-- KEYS[2] stream, the log: id <seq>-0; h head, c content, x JSON of what is only shown
-- KEYS[3] list beside the log, one card for each message: role, status, flags (s superseded, e empty), then counts, calls and answer
-- KEYS[4] hash: the turn that runs: token, first seq, fence, process, cancelled, from which seq it supersedes, n events so far,
--         size and h1, c1, x1, k1 .. of its messages (k: their cards), w:<process> of those that read along
-- A head is role, status, 1 if its content is JSON, else 0|token of its turn|index in it|created at, ms|from which seq its turn
-- supersedes. Status: c complete, i incomplete, f failed, p pending.
-- The numbers here are those of conversation.limits.ts; a spec compares them.
local RUN_MS, EVENTS_MS, SLACK_MS, MOST_EVENTS = 3600000, 600000, 1000, 20000

local call = redis.call
local META, LOG, CARDS, TURN = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local ms = math.floor(now() / 1000)

-- Never `..` or tostring: Lua writes a large number with 14 digits. What goes to call() as a number Redis writes in full.
local function text(number)
  return string.format('%.0f', number)
end

local function append(list, more)
  for index = 1, #more do
    list[#list + 1] = more[index]
  end
  return list
end

-- The owner's conversation; nil if it is over, or another's.
local function open()
  local saved = call('HMGET', META, 'owner', 'ends', 'keep', 'seq', 'base', 'version', 'fence', 'head')
  local ends = tonumber(saved[2] or 0)
  if saved[1] ~= ARGV[1] or (ends > 0 and ends <= ms) then
    return nil
  end
  return { keep = tonumber(saved[3]), seq = tonumber(saved[4]), base = tonumber(saved[5]), version = tonumber(saved[6]),
    fence = tonumber(saved[7]), head = saved[8] }
end

-- The conversation as it is told.
local function told()
  local fields = call('HMGET', META, 'title', 'model', 'system', 'counts', 'metadata', 'keep', 'created', 'updated', 'ends', 'seq',
    'base', 'version', 'head')
  return append(fields, call('HMGET', TURN, 'token', 'first'))
end

-- Whether it is at the expected seq and version, which may be ''.
local function isAt(conversation, seq, version)
  return seq == '' or (tonumber(seq) == conversation.seq and tonumber(version) == conversation.version)
end

-- All of its keys live as long as it does; what is over is decided by `ends`.
local function renew(keepMs, leastMs)
  local lastsMs = keepMs == 0 and 0 or math.max(keepMs, leastMs)
  call('HSET', META, 'updated', ms, 'ends', lastsMs == 0 and 0 or ms + lastsMs)
  for _, key in ipairs({ META, LOG, CARDS, TURN }) do
    if lastsMs == 0 then
      call('PERSIST', key)
    else
      call('PEXPIRE', key, lastsMs + SLACK_MS)
    end
  end
end

-- The running turn's record, if there is one; of the token and first seq, if they are given.
local function running(token, first)
  local saved = call('HMGET', TURN, 'token', 'first', 'fence', 'process', 'cancelled', 'from', 'size', 'n')
  if not saved[1] or (token and (token ~= saved[1] or first ~= tonumber(saved[2]))) then
    return nil
  end
  return { token = saved[1], first = tonumber(saved[2]), fence = tonumber(saved[3]), process = saved[4], cancelled = saved[5],
    from = saved[6], size = tonumber(saved[7]), events = tonumber(saved[8]) }
end

local function parts(head)
  local marks, token, index, created, from = string.match(head, '^(...)|([^|]*)|(%d+)|(%d+)|?(%d*)$')
  return { status = string.sub(marks, 2, 2), token = token, index = tonumber(index), created = tonumber(created), from = from }
end

-- A head or a card with another status.
local function withStatus(whole, status)
  return string.sub(whole, 1, 1) .. status .. string.sub(whole, 3)
end

local function seqOf(entry)
  return tonumber(string.match(entry[1], '^%d+'))
end

-- The log's entries from that seq on, at most so many; fields in the order in which they were written.
local function entries(seq, count)
  return call('XRANGE', LOG, text(seq) .. '-0', '+', 'COUNT', count)
end

-- What is told of a message: seq, head, content, JSON, 1 if it is superseded.
local function message(entry, card)
  local fields = entry[2]
  local isSuperseded = card and string.find(card, '^..e?s') and 1 or 0
  return { seqOf(entry), fields[2], fields[4], fields[6], isSuperseded }
end

-- The entries of a turn that is over; nil if it is not in the log.
local function logged(token, first)
  local found, seq = {}, first
  repeat
    local step = entries(seq, 4)
    for _, entry in ipairs(step) do
      local head = parts(entry[2][2])
      if head.token ~= token or head.index ~= seq - first then
        return found[1] and found or nil
      end
      found[#found + 1], seq = entry, seq + 1
    end
  until #step < 4
  return found[1] and found or nil
end

-- The messages of the running turn, as they are told.
local function pending(turn)
  local flat = {}
  for index = 1, turn.size do
    local saved = call('HMGET', TURN, 'h' .. index, 'c' .. index, 'x' .. index)
    append(flat, { turn.first + index - 1, saved[1], saved[2], saved[3], 0 })
  end
  return flat
end

-- A turn as it is told: 1 if it was cancelled, number of messages, the messages.
local function toldTurn(token, first, conversation)
  local turn = running(token, first)
  if turn then
    return append({ tonumber(turn.cancelled), turn.size }, pending(turn))
  end
  local found = logged(token, first)
  if not found then
    return nil
  end
  local flat = { 0, #found }
  for index, entry in ipairs(found) do
    append(flat, message(entry, call('LINDEX', CARDS, first + index - conversation.base - 2)))
  end
  return flat
end

-- A refused publish (rights on the channel) must not break the script in its midst; who runs or reads a turn also asks.
local function tell(prefix, process, kind, turn)
  redis.pcall('PUBLISH', prefix .. process, kind .. '|' .. turn.token .. '|' .. text(turn.first))
end

-- Tells those who read along.
local function tellReaders(prefix, kind, turn)
  for _, field in ipairs(call('HKEYS', TURN)) do
    if string.sub(field, 1, 2) == 'w:' then
      tell(prefix, string.sub(field, 3), kind, turn)
    end
  end
end

-- Events of a turn from ARGV[from] on, name and data in turn; their ids follow those before.
local function addEvents(key, turn, from, livesMs)
  for index = from, #ARGV, 2 do
    turn.events = turn.events + 1
    call('XADD', key, 'MAXLEN', '~', MOST_EVENTS, turn.events .. '-0', 'n', ARGV[index], 'd', ARGV[index + 1])
  end
  call('PEXPIRE', key, livesMs + SLACK_MS)
end
