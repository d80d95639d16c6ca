import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { modelAcross } from '../support/config-file.js';
import { eventually } from '../support/eventually.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';
import { asAsked, RouteRig } from '../support/route-rig.js';
import { json, type Script } from '../support/scripted-upstream.js';

/** Answers the usage path with one thing, and completions as usual. */
const worth =
  (usage: Script): Script =>
  (request, response) =>
    (request.path.endsWith('/usage') ? usage : asAsked('ok'))(request, response);

interface Upstreams {
  readonly upstreams: readonly {
    readonly key: string;
    readonly tier: string | null;
    readonly quota_left: number | null;
  }[];
}

describe('what our keys are worth', () => {
  let rig: RouteRig;
  afterEach(() => rig.close());

  /** `large` is the enterprise tier's; the one provider tells what its key is worth. */
  const options = (usage: Script): Parameters<typeof RouteRig.start>[0] => ({
    providers: ['a'],
    script: worth(usage),
    models: [modelAcross(['a'], 'large'), modelAcross(['a'], 'basic')],
    provider: { usagePath: '/usage' },
    file: { tiers: { free: ['basic'], pro: ['basic'], enterprise: ['large', 'basic'] } },
  });
  const start = async (usage: Script): Promise<void> => {
    rig = await RouteRig.start(options(usage));
    await eventually(() => rig.pod().logs().includes('our key'));
  };
  const keyOf = async (): Promise<Upstreams['upstreams'][number] | undefined> =>
    ((await (await fetch(`${rig.pod().url}/v1/status`)).json()) as Upstreams).upstreams[0];

  it('is what a caller of any tier gets at most: the first model that both allow', async () => {
    await start(json(200, { tier: 'free', remaining: 500 }));
    const answer = await rig.ask();
    expect(answer.headers.get('x-coordinator-model')).toBe('basic');
    expect(answer.headers.get('x-coordinator-route')).toBe('tier');
    const strict = await rig.ask({}, { 'x-coordinator-strict': 'true' });
    expect(strict).toMatchObject({ status: 403, body: { error: { code: 'model_not_allowed' } } });
    expect(await keyOf()).toMatchObject({ tier: 'free', quota_left: 499, stale: false });
  });

  it('opens everything where the key’s tier does', async () => {
    await start(json(200, { tier: 'enterprise' }));
    expect((await rig.ask()).headers.get('x-coordinator-model')).toBe('large');
    expect(await keyOf()).toMatchObject({ tier: 'enterprise', quota_left: null });
  });

  it('is the free tier with 1,000 requests where nobody can say', async () => {
    await start((_, response) => void response.socket?.resetAndDestroy());
    expect((await rig.ask()).headers.get('x-coordinator-model')).toBe('basic');
    expect(await keyOf()).toMatchObject({ tier: 'free', quota_left: 999, stale: true });
  });

  it('is nothing where the provider refuses the key: no completion goes out on it', async () => {
    await start(json(403, { error: { message: 'bad key' } }));
    expect(await rig.ask({ model: 'basic' })).toMatchObject({
      status: 502,
      body: { error: { code: 'upstream_auth' } },
    });
    expect(rig.calls()).toEqual({ a: 0 });
    expect(await keyOf()).toMatchObject({ state: 'key refused' });
  });

  describe('to several pods', () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await startRedisServer();
    });
    afterAll(() => server.stop());

    it('is asked for by one of them, and known to all', async () => {
      const environment = { REDIS_URL: `redis://${server.host}:${String(server.port)}` };
      rig = await RouteRig.start({ ...options(json(200, { tier: 'free', remaining: 500 })), environment, pods: 3 });
      for (const pod of [0, 1, 2]) {
        await eventually(async () => (await rig.ask({}, {}, { pod })).headers.get('x-coordinator-model') === 'basic');
      }
      expect(rig.at('a').requests.filter(({ path }) => path.endsWith('/usage'))).toHaveLength(1);
    });
  });
});
