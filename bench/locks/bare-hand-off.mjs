/**
 * The limit of handing a lock on: a list of waiters, and a release that gives it to the first of them and tells its process. No
 * expiry, no fence, no liveness, no retry: whoever dies here holds it for ever. Used only as a yardstick.
 */
import { randomUUID } from 'node:crypto';

const TAKE = `
if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then return 1 end
redis.call('RPUSH', KEYS[2], ARGV[2] .. '|' .. ARGV[1])
return 0`;
const RELEASE = `
local next = redis.call('LPOP', KEYS[2])
if not next then return redis.call('DEL', KEYS[1]) end
local channel, token = string.match(next, '^(.-)|(.*)$')
redis.call('SET', KEYS[1], token)
redis.call('PUBLISH', channel, token)
return 1`;

/** @param redis for commands @param subscriber for the grants of this process */
export async function openBare(redis, subscriber) {
  const channel = randomUUID();
  const waiting = new Map();
  const [take, release] = await Promise.all([redis.script('LOAD', TAKE), redis.script('LOAD', RELEASE)]);
  // Not while it still connects: then ioredis now and then comes up without the subscription.
  await subscriber.ping();
  await subscriber.subscribe(channel);
  subscriber.on('message', (_channel, token) => {
    waiting.get(token)();
    waiting.delete(token);
  });
  return {
    async take(key) {
      const token = randomUUID();
      const keys = [`{${key}}`, `{${key}}:q`];
      const granted = new Promise((resolve) => waiting.set(token, resolve));
      if ((await redis.evalsha(take, 2, ...keys, token, channel)) === 1) waiting.delete(token);
      else await granted;
      return () => redis.evalsha(release, 2, ...keys);
    },
  };
}
