import { parseScript } from '../../src/store/index.js';

/** Adds to a counter: the smallest script there is to try a store with. */
export const COUNT = parseScript(
  'count',
  `-- Adds to a counter.
-- KEYS[1] the counter
-- ARGV[1] how much
-- Returns the new value.
local value = redis.call('INCRBY', KEYS[1], ARGV[1])
redis.call('PEXPIRE', KEYS[1], 60000)
return value`,
);

export const PUBLISH = parseScript(
  'publish',
  `-- Sends a message from within a script.
-- KEYS[1] decides the node
-- ARGV[1] channel
-- ARGV[2] message
-- Returns how many connections of this node received it.
redis.call('EXISTS', KEYS[1])
return redis.call('PUBLISH', ARGV[1], ARGV[2])`,
);
