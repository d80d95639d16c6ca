import { afterEach, beforeAll, afterAll, describe, expect, it } from '@jest/globals';
import { messages } from '../support/completion-rig.js';
import { modelAcross } from '../support/config-file.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer, type RedisServer } from '../support/redis-server.js';
import { asAsked, RouteRig } from '../support/route-rig.js';
import { json, type Script } from '../support/scripted-upstream.js';

const failing = json(500, {});
const hangs: Script = () => undefined;
const askedToWait = json(503, {}, { 'retry-after': '30' });

describe('row 11: a model with one deployment and no fallback, whose provider hangs', () => {
  let rig: RouteRig;
  afterEach(() => rig.close());

  it('is answered 503 at once after the threshold, and is back after exactly one probe', async () => {
    const model = modelAcross(['a'], 'm', { timeouts: { firstTokenMs: '100ms' } });
    rig = await RouteRig.start({ providers: ['a'], models: [model] });
    rig.play({ a: hangs });
    const patience = { 'x-coordinator-timeout-ms': '800' };
    for (let strike = 0; strike < 3; strike += 1) {
      expect((await rig.ask({ max_tokens: 1 }, patience)).status).toBe(504);
    }
    const before = rig.calls()['a'];
    for (let request = 0; request < 20; request += 1) {
      const { status, headers, body } = await rig.ask({ stream: request % 2 === 0 });
      expect({ status, body }).toMatchObject({ status: 503, body: { error: { code: 'overloaded' } } });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(headers.get('x-coordinator-attempts')).toBe('0');
    }
    expect(rig.calls()['a']).toBe(before);

    // The outage is over; the probe is held until all the others have come while it runs.
    let answers = 0;
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    rig.play({
      a: async (request, response) => {
        answers += 1;
        await held;
        await asAsked('back')(request, response);
      },
    });
    let seen: number[] = [];
    await eventually(async () => {
      seen = [];
      const all = Array.from({ length: 10 }, async () => void seen.push((await rig.ask()).status));
      await eventually(() => seen.length === 10 || (seen.length === 9 && answers > 0));
      if (answers > 0) letGo();
      await Promise.all(all);
      return answers > 0;
    });
    // One of them was the probe, the others were told to wait.
    expect([answers, seen.filter((status) => status === 200).length]).toEqual([1, 1]);
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await rig.ask()).status));
    expect(statuses).toEqual(Array.from({ length: 10 }, () => 200));
  });
});

describe('two pods on one Redis', () => {
  let server: RedisServer;
  let rig: RouteRig;

  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());
  afterEach(() => rig.close());

  /** Each test knows nothing of the one before it. */
  let round = 0;
  const start = async (providers: readonly string[], more: object = {}): Promise<void> => {
    round += 1;
    rig = await RouteRig.start({
      providers,
      models: [modelAcross(providers, 'm', more)],
      pods: 2,
      environment: {
        REDIS_URL: `redis://${server.host}:${String(server.port)}`,
        REDIS_KEY_PREFIX: `pods-${String(round)}:`,
      },
    });
  };

  it('row 10: a failing deployment is left alone by both, a failing second one too, for what is left of its time', async () => {
    await start(['a', 'b', 'c']);
    let told = 0;
    rig.play({
      a: failing,
      b: (request, response) => {
        told = Date.now();
        return askedToWait(request, response);
      },
    });
    for (let request = 0; request < 10; request += 1) {
      expect((await rig.ask()).headers.get('x-coordinator-provider')).toBe('c');
    }
    expect(rig.calls()['a']).toBeLessThanOrEqual(4);
    expect(rig.calls()['b']).toBe(1);
    await eventually(async () => (await passedOver(rig, 1)).includes('b'));
    const before = rig.calls();
    for (let request = 0; request < 10; request += 1) {
      expect((await rig.ask({}, {}, { pod: 1 })).headers.get('x-coordinator-provider')).toBe('c');
    }
    expect(rig.calls()).toEqual({ ...before, c: (before['c'] ?? 0) + 10 });
    // The other pod has not begun to count anew.
    const left = (await statusOf(rig, 1)).find(({ provider }) => provider === 'b')?.retry_after_ms ?? 0;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(30_000 - (Date.now() - told) / 2);
  });

  it('a key that is used up for one is out for the other', async () => {
    await start(['a', 'b']);
    rig.play({ a: json(429, { error: { code: 'insufficient_quota' } }) });
    await rig.ask();
    await eventually(async () => (await passedOver(rig, 1)).includes('a'));
    await rig.ask({}, {}, { pod: 1 });
    expect(rig.calls()).toEqual({ a: 1, b: 2 });
  });

  it('what is left of a rate limit for one is what is left for the other', async () => {
    await start(['a', 'b']);
    const nearly = {
      'x-ratelimit-limit-requests': '1000',
      'x-ratelimit-remaining-requests': '1',
      'x-ratelimit-reset-requests': '1m',
    };
    rig.play({
      a: (request, response) => {
        for (const [name, value] of Object.entries(nearly)) response.setHeader(name, value);
        return asAsked('ok')(request, response);
      },
    });
    expect((await rig.ask()).headers.get('x-coordinator-provider')).toBe('a');
    await eventually(async () => {
      const { headers } = await rig.ask({}, {}, { pod: 1 });
      return headers.get('x-coordinator-provider') === 'b';
    });
  });

  it('how long calls take is known to the other', async () => {
    await start(['a', 'b'], { timeouts: { firstTokenMs: '12s' } });
    // So many make a history.
    for (let request = 0; request < 20; request += 1) expect((await rig.ask({ stream: true })).status).toBe(200);
    await eventually(async () => (await timeoutsOf(rig, 1)).first_token_learned);
    // 2.5 means, but not less than this.
    expect((await timeoutsOf(rig, 1)).first_token_ms).toBe(5_000);
  });
});

/** The providers that a request to this pod would not go to now; nobody is called. */
async function passedOver(rig: RouteRig, pod: number): Promise<readonly string[]> {
  const response = await fetch(`${rig.pod(pod).url}/v1/chat/completions?dryRun=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages }),
  });
  const { candidates } = (await response.json()) as { candidates: { provider: string; passed_over?: string }[] };
  return candidates.filter((candidate) => candidate.passed_over !== undefined).map(({ provider }) => provider);
}

interface Status {
  readonly models: readonly {
    readonly timeouts: { readonly first_token_ms: number; readonly first_token_learned: boolean };
    readonly deployments: readonly { readonly provider: string; readonly retry_after_ms: number }[];
  }[];
}

async function modelOf(rig: RouteRig, pod: number): Promise<Status['models'][number]> {
  const [model] = ((await (await fetch(`${rig.pod(pod).url}/v1/status`)).json()) as Status).models;
  if (model === undefined) throw new Error('there is one model');
  return model;
}

const statusOf = async (rig: RouteRig, pod: number) => (await modelOf(rig, pod)).deployments;
const timeoutsOf = async (rig: RouteRig, pod: number) => (await modelOf(rig, pod)).timeouts;
