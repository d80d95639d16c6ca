-- Tells of a conversation.
-- KEYS[1] conversation
-- KEYS[2] log
-- KEYS[3] cards
-- KEYS[4] turn
-- ARGV[1] owner
-- Returns {1, then the conversation} | {0} missing
return open() and append({ 1 }, told()) or { 0 }
