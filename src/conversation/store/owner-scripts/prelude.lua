-- What the scripts of an owner's list share: an index of conversations, which are kept elsewhere.
-- KEYS[1] their ids by the time of their last use, ms
-- KEYS[2] their ids by the time from which on they are over, ms; those that are kept for ever are not in it
-- SLACK_MS is that of conversation.limits.ts; a spec compares them.
local SLACK_MS = 1000

local call = redis.call
local USED, ENDS = KEYS[1], KEYS[2]
