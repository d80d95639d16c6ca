import { afterEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { parseTuning } from '../../src/store/redis.options.js';
import { type SentinelNews, SentinelWatch } from '../../src/store/sentinel.watch.js';
import { eventually } from '../support/eventually.js';
import { ask } from '../support/redis-sentinel.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const NAME = 'mymaster';
const [A, B, C] = ['127.0.0.1 7001', '127.0.0.1 7002', '127.0.0.1 7003'] as const;
const LEAVE = '+failover-state-send-slaveof-noone';
const SWITCH = '+switch-master';

let server: RedisServer | undefined;
let watch: SentinelWatch | undefined;

afterEach(async () => {
  await watch?.close();
  await server?.stop();
});

/** Watches a server that says what sentinels would. */
async function listen(): Promise<{ heard: string[]; say: (channel: string, message: string) => Promise<void> }> {
  const sentinel = (server = await startRedisServer());
  const heard: string[] = [];
  const news: SentinelNews = {
    leaving: ({ port }) => heard.push(`leaving ${String(port)}`),
    switched: ({ port }) => heard.push(`switched ${String(port)}`),
  };
  const { host, port } = sentinel;
  const openOne = (): Redis => new Redis({ host, port, retryStrategy: null, enableReadyCheck: false });
  watch = new SentinelWatch({ masterName: NAME, open: [openOne] }, parseTuning({}), news);
  const countersOf = (): Promise<unknown> => ask(sentinel, (redis) => redis.call('PUBSUB', 'NUMSUB', LEAVE));
  await eventually(async () => String(await countersOf()) === `${LEAVE},1`);
  const say = async (channel: string, message: string): Promise<void> => {
    await ask(sentinel, (redis) => redis.publish(channel, message));
  };
  return { heard, say };
}

it('stays away from a master that is being left, though the sentinel that led to it names it only now', async () => {
  const { heard, say } = await listen();
  await say(LEAVE, `slave ${C.replace(' ', ':')} ${C} @ ${NAME} ${B}`);
  // As the leader does where a replica was gone: when its time for that replica is over.
  await say(SWITCH, `${NAME} ${A} ${B}`);
  await say(SWITCH, `${NAME} ${B} ${C}`);
  await eventually(() => heard.includes('switched 7003'));
  expect(heard).toEqual(['leaving 7002', 'leaving 7002', 'switched 7003']);
});

it('goes back to a master that is named anew, and hears of no other groups', async () => {
  const { heard, say } = await listen();
  await say(SWITCH, `other ${A} ${B}`);
  await say(SWITCH, `${NAME} ${B} ${C}`);
  await say(LEAVE, `slave ${B.replace(' ', ':')} ${B} @ ${NAME} ${C}`);
  await say(SWITCH, `${NAME} ${C} ${B}`);
  await eventually(() => heard.includes('switched 7002'));
  expect(heard).toEqual(['leaving 7002', 'switched 7003', 'leaving 7003', 'leaving 7003', 'switched 7002']);
});
