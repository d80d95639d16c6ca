import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { postCompletion, readAnswer } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';
import { completion, json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { environmentFor, type SpawnedServer, spawnServer } from '../support/spawned-server.js';

const BODY = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hi' }] };
const PODS = 3;

describe('identical calls on three processes', () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let servers: readonly SpawnedServer[];
  let open: () => void;

  beforeEach(async () => {
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    redis = await startRedisServer();
    upstream = await startScriptedUpstream(async (request, response) => {
      const isCall = request.path.endsWith('/chat/completions');
      if (isCall) await gate;
      await json(isCall ? 200 : 404, isCall ? completion() : {})(request, response);
    });
    const environment = { ...environmentFor(upstream.url), REDIS_URL: `redis://${redis.host}:${redis.port}` };
    servers = await Promise.all(Array.from({ length: PODS }, () => spawnServer({ environment })));
  });
  afterEach(async () => {
    open();
    await Promise.all(servers.map((server) => server.kill()));
    await upstream.close();
    await redis.stop();
  });

  const calls = (): number => upstream.requests.filter(({ path }) => path.endsWith('/chat/completions')).length;
  const ask = async (pod: number, headers: Record<string, string> = {}) =>
    readAnswer(await postCompletion(servers[pod]?.url ?? '', BODY, headers));

  it.each([
    ['without a key', {}],
    ['with an Idempotency-Key', { 'idempotency-key': 'order-1' }],
  ])('row 57: are one call, and one more when its process is killed: %s', async (_, headers) => {
    const leader = ask(0, headers).catch(() => 'killed');
    await eventually(() => calls() === 1);
    const others = Array.from({ length: 20 }, (_each, index) => ask(1 + (index % 2), headers));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(calls()).toBe(1);
    await servers[0]?.kill();
    expect(await leader).toBe('killed');
    await eventually(() => calls() === 2);
    open();
    const all = await Promise.all(others);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(calls()).toBe(2);
  });
});
