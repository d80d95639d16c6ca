-- Puts the messages of a turn into its record, or finds the turn of the same key. Repeated with the same token and fence, it finds
-- itself.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- KEYS[5] what the key was used for: token|first seq|hash of the body|time in ms from which on it is forgotten
-- KEYS[6] events
-- ARGV[1] owner
-- ARGV[2] seq that is expected, or ''
-- ARGV[3] version that is expected
-- ARGV[4] token
-- ARGV[5] fence
-- ARGV[6] process
-- ARGV[7] hash of the body; '' without a key
-- ARGV[8] how long the key is known, ms
-- ARGV[9] token of the turn that is to be answered again, or ''
-- ARGV[10] first seq of that turn
-- ARGV[11..] of each message its marks (role, p, 1 for JSON or 0), content, JSON and card
-- Returns {1, then the conversation and the turn} started | {0} missing | {-1} fenced | {-2} changed
--         | {2 known with the same body, 3 known with another one, 4 left running by an earlier holder, then the turn}
local conversation, fence, hasKey = open(), tonumber(ARGV[5]), ARGV[7] ~= ''
if not conversation then
  return { 0 }
end

local function answer(kind, token, first)
  return append({ kind }, toldTurn(token, first, conversation))
end

local function known()
  local token, first, body, ends = string.match(hasKey and call('GET', KEYS[5]) or '', '^([^|]*)|(%d+)|([^|]*)|(%d+)$')
  if not token or tonumber(ends) <= ms or not toldTurn(token, tonumber(first), conversation) then
    return nil
  end
  local turn = running(token, tonumber(first))
  if turn and (turn.fence < fence or token == ARGV[4]) then
    return nil
  end
  return answer(body == ARGV[7] and 2 or 3, token, tonumber(first))
end

local function started(turn)
  return append(append({ 1 }, told()), toldTurn(turn.token, turn.first, conversation))
end

-- From which seq on messages are superseded; '' if none are, nil if the turn is not the last one. One that failed may have taken
-- the place of others, which are still there.
local function from()
  if ARGV[9] == '' then
    return ''
  end
  local first = tonumber(ARGV[10])
  local found = logged(ARGV[9], first)
  if not found or first + #found - 1 ~= conversation.seq then
    return nil
  end
  local before = parts(found[1][2][2]).from
  return before ~= '' and before or text(first)
end

local function save(first, supersedes)
  call('DEL', KEYS[6])
  call('HSET', TURN, 'token', ARGV[4], 'first', first, 'fence', ARGV[5], 'process', ARGV[6], 'cancelled', 0, 'from', supersedes,
    'n', 0, 'size', (#ARGV - 10) / 4)
  for at = 11, #ARGV, 4 do
    local index = (at - 11) / 4
    local tail = (index == 0 and supersedes ~= '') and '|' .. supersedes or ''
    local head = ARGV[at] .. '|' .. ARGV[4] .. '|' .. index .. '|' .. text(ms) .. tail
    local number = index + 1
    call('HSET', TURN, 'h' .. number, head, 'c' .. number, ARGV[at + 1], 'x' .. number, ARGV[at + 2], 'k' .. number, ARGV[at + 3])
  end
end

local found = known()
if found then
  return found
end
if fence < conversation.fence then
  return { -1 }
end
local turn = running()
if turn and turn.token == ARGV[4] and turn.fence == fence then
  -- A write, so that whoever waits for replicas waits for what it finds.
  renew(conversation.keep, RUN_MS)
  return started(turn)
end
if turn then
  return answer(4, turn.token, turn.first)
end
local supersedes = from()
if not supersedes or not isAt(conversation, ARGV[2], ARGV[3]) then
  return { -2 }
end
local first = conversation.seq + 1
save(first, supersedes)
call('HSET', META, 'fence', ARGV[5])
if hasKey then
  local keepMs = tonumber(ARGV[8])
  call('SET', KEYS[5], table.concat({ ARGV[4], text(first), ARGV[7], text(ms + keepMs) }, '|'), 'PX', keepMs + SLACK_MS)
end
renew(conversation.keep, RUN_MS)
return started({ token = ARGV[4], first = first })
