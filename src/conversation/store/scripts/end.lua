-- Ends a turn: appends its messages to the log and tells those who read along. Repeated, it finds the turn ended.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- KEYS[5] events
-- ARGV[1] owner
-- ARGV[2] prefix of channels
-- ARGV[3] token
-- ARGV[4] its first seq
-- ARGV[5] fence
-- ARGV[6] status: c, i or f
-- ARGV[7] seq|model where its window began, '' if nothing was left behind, = to leave it as it is
-- ARGV[8] number of replies
-- ARGV[9..] of each reply its marks (role, p, 1 for JSON or 0), content, JSON and card; then of each event name and data
-- Returns {1, then the conversation and the turn} | {0} missing | {-1} fenced
local conversation, token, first, fence = open(), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
if not conversation then
  return { 0 }
end
if fence < conversation.fence then
  return { -1 }
end

local function add(seq, head, fields)
  call('XADD', LOG, text(seq) .. '-0', 'h', head, 'c', fields[1], 'x', fields[2])
  call('RPUSH', CARDS, fields[3])
end

-- @return the seq of the last one
local function appendAll(turn, status)
  local asked = status == 'f' and 'f' or 'c'
  local seq = conversation.seq
  for index = 1, turn.size do
    local saved = call('HMGET', TURN, 'h' .. index, 'c' .. index, 'x' .. index, 'k' .. index)
    seq = seq + 1
    add(seq, withStatus(saved[1], asked), { saved[2], saved[3], withStatus(saved[4], asked) })
  end
  for at = 9, 8 + 4 * tonumber(ARGV[8]), 4 do
    seq = seq + 1
    local head = withStatus(ARGV[at], status) .. '|' .. token .. '|' .. text(seq - turn.first) .. '|' .. text(ms)
    add(seq, head, { ARGV[at + 1], ARGV[at + 2], withStatus(ARGV[at + 3], status) })
  end
  return seq
end

-- What it answers again; a turn that failed takes nobody's place.
local function supersede(turn)
  for seq = tonumber(turn.from), turn.first - 1 do
    local index = seq - conversation.base - 1
    local card = call('LINDEX', CARDS, index)
    if card and not string.find(card, '^..e?s') then
      local marks, rest = string.match(card, '^(..e?)(.*)$')
      call('LSET', CARDS, index, marks .. 's' .. rest)
    end
  end
end

local function finish(turn)
  if turn.from ~= '' and ARGV[6] ~= 'f' then
    supersede(turn)
  end
  call('HSET', META, 'seq', appendAll(turn, ARGV[6]), 'fence', ARGV[5])
  if ARGV[7] == '' then
    call('HDEL', META, 'head')
  elseif ARGV[7] ~= '=' then
    call('HSET', META, 'head', ARGV[7])
  end
  addEvents(KEYS[5], turn, 9 + 4 * tonumber(ARGV[8]), EVENTS_MS)
  tellReaders(ARGV[2], 'ended', turn)
  call('DEL', TURN)
end

local turn = running(token, first)
-- The log grows by turns alone, so that a turn's place in it stays free; a record that disagrees is damaged.
if turn and turn.first ~= conversation.seq + 1 then
  return { -1 }
end
if turn then
  finish(turn)
end
local answer = toldTurn(token, first, conversation)
if not answer then
  return { 0 }
end
-- Also of a repeated one, so that whoever waits for replicas waits for what it finds.
renew(conversation.keep, running() and RUN_MS or 0)
return append(append({ 1 }, told()), answer)
