import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { postCompletion, readAnswer } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';
import { completion, json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { environmentFor, type SpawnedServer, spawnServer } from '../support/spawned-server.js';

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
  const ask = async (pod: number, { content, ...headers }: { content: string; 'idempotency-key'?: string }) => {
    const body = { model: 'gpt-4.1', messages: [{ role: 'user', content }] };
    return readAnswer(await postCompletion(servers[pod]?.url ?? '', body, headers));
  };

  it('row 57: are one call, and one more when their process is killed; so are those of one Idempotency-Key', async () => {
    const kinds = [{ content: 'joined' }, { content: 'keyed', 'idempotency-key': 'order-1' }];
    const leaders = kinds.map((kind) => ask(0, kind).catch(() => 'killed'));
    await eventually(() => calls() === kinds.length);
    const others = kinds.flatMap((kind) => Array.from({ length: 20 }, (_, index) => ask(1 + (index % 2), kind)));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(calls()).toBe(kinds.length);
    await servers[0]?.kill();
    expect(await Promise.all(leaders)).toEqual(['killed', 'killed']);
    await eventually(() => calls() === 2 * kinds.length);
    open();
    const all = await Promise.all(others);
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect(calls()).toBe(2 * kinds.length);
  });
});
