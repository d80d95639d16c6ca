import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { HttpModule } from '@nestjs/axios';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Catalogue, type Deployment } from '../../../src/ai/catalogue/catalogue.js';
import { Fleet } from '../../../src/ai/fleet/index.js';
import { MemoryFleetStore } from '../../../src/ai/fleet/memory-fleet.store.js';
import { KeyService } from '../../../src/ai/keys/key.service.js';
import { type PlanRequest, RoutePlanner } from '../../../src/ai/route/route.planner.js';
import type { RoutePlan } from '../../../src/ai/route/route.plan.js';
import { OpenAiAdapter } from '../../../src/ai/upstream/openai.adapter.js';
import { UndiciTransport } from '../../../src/ai/upstream/undici.transport.js';
import { UpstreamFailure } from '../../../src/ai/upstream/upstream-failure.js';
import type { ModelSettings } from '../../../src/config/index.js';
import { LockModule } from '../../../src/lock/index.js';
import { createLogger, LOGGER } from '../../../src/observability/index.js';
import { catalogue, deployment, model, provider } from '../../support/catalogues.js';
import { RootModule } from '../../support/lock-context.js';

/** `one` tells what its two keys are worth; `two` does not. */
const places = catalogue({
  models: [
    model('small', [deployment('one'), deployment('two')], { fallbacks: ['large'] }),
    model('large', [deployment('one')]),
  ],
  providers: [{ ...provider('one', 'k1'), apiKeys: ['key-1', 'key-2'], usagePath: '/usage' }, provider('two', 'k2')],
  tiers: { free: ['small'], pro: ['small'], enterprise: ['small', 'large'] },
});
const modelNamed = (name: string): ModelSettings => {
  const found = places.find(name);
  if (found === undefined) throw new RangeError(`no model ${name}`);
  return found;
};
const [small, large] = [modelNamed('small'), modelNamed('large')];
const at = (key: string, of: ModelSettings = small): Deployment => {
  const found = places.liveDeployments(of).find(({ upstream }) => upstream.keyId === key);
  if (found === undefined) throw new RangeError(`no key ${key}`);
  return found;
};

type Answer = { readonly status: number; readonly body?: object } | Error;

const FIVE_MINUTES = 300_000;

describe('KeyService', () => {
  let app: INestApplicationContext;
  let fleet: Fleet;
  let keys: KeyService;
  /** By the key that asks. */
  let answers: Record<string, Answer>;
  let asked: string[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    answers = {};
    asked = [];
  });
  afterEach(async () => {
    await app.close();
    await fleet.close();
    jest.useRealTimers();
  });

  /** A pod that has just started, its checks on their way. */
  const start = async (): Promise<void> => {
    const http = HttpModule.register({
      validateStatus: null,
      transformResponse: [],
      adapter: (config) => {
        const key = String(config.headers.get('authorization')).slice('Bearer '.length);
        asked.push(key);
        const answer = answers[key] ?? { status: 200, body: { tier: 'enterprise' } };
        if (answer instanceof Error) return Promise.reject(answer);
        const data = Readable.from([Buffer.from(JSON.stringify(answer.body ?? {}))]);
        return Promise.resolve({ data, status: answer.status, statusText: '', headers: {}, config });
      },
    });
    fleet = new Fleet({
      store: new MemoryFleetStore(() => Date.now() * 1_000),
      deployments: places.deployments().map(({ id, upstream }) => ({ id, key: upstream.keyId })),
      models: [],
    });
    const root = {
      module: RootModule,
      imports: [http, LockModule.forRoot({ graceMs: 0 })],
      providers: [
        KeyService,
        { provide: Catalogue, useValue: places },
        { provide: Fleet, useValue: fleet },
        { provide: LOGGER, useValue: createLogger({ level: 'silent', secrets: [] }, { write: () => undefined }) },
      ],
    };
    app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    keys = app.get(KeyService);
    await settle();
  };

  /** Lets answers arrive, and time pass. */
  const settle = async (ms = 100): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) await jest.advanceTimersByTimeAsync(ms / 10);
    await new Promise((resolve) => setImmediate(resolve));
  };

  it('asks for each key of a provider that tells, at boot and every five minutes', async () => {
    await start();
    expect(asked.toSorted()).toEqual(['key-1', 'key-2']);
    await settle(FIVE_MINUTES);
    expect(asked.toSorted()).toEqual(['key-1', 'key-1', 'key-2', 'key-2']);
    await app.close();
    await settle(FIVE_MINUTES);
    expect(asked).toHaveLength(4);
  });

  it('takes a key for what its tier says, and one that tells nothing for unrestricted', async () => {
    answers['key-1'] = { status: 200, body: { tier: 'free', remaining: 7 } };
    await start();
    expect([keys.isWorth(at('one#1'), small), keys.isWorth(at('one#1', large), large)]).toEqual([true, false]);
    expect(keys.isWorth(at('one#2', large), large)).toBe(true);
    expect(keys.isWorth(at('two'), large)).toBe(true);
  });

  it.each([
    ['cannot be reached', new Error('ECONNREFUSED')],
    ['fails', { status: 500 }],
    ['says something else', { status: 200, body: { plan: 'gold' } }],
  ] satisfies readonly [string, Answer][])(
    'takes a key for a free one with 1,000 requests left where its provider %s',
    async (_, answer) => {
      answers['key-1'] = answer;
      await start();
      expect(keys.isWorth(at('one#1', large), large)).toBe(false);
      expect(fleet.keys.worthOf('one#1')).toEqual({ tier: 'free', unit: 'requests', remaining: 1_000, isStale: true });
    },
  );

  it('keeps the last word where a later check fails, and marks it stale', async () => {
    answers['key-1'] = { status: 200, body: { tier: 'enterprise', remaining: 50 } };
    await start();
    answers['key-1'] = new Error('ECONNRESET');
    await settle(FIVE_MINUTES);
    expect(fleet.keys.worthOf('one#1')).toEqual({ tier: 'enterprise', unit: 'requests', remaining: 50, isStale: true });
  });

  it.each([401, 403])('leaves a key out that is refused with %d, until a check passes', async (status) => {
    answers['key-1'] = { status };
    await start();
    expect(fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'refused' });
    await settle(FIVE_MINUTES);
    expect(fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'refused' });
    answers['key-1'] = { status: 200, body: { tier: 'pro' } };
    await settle(FIVE_MINUTES);
    expect(fleet.keys.parkingOf('one#1')).toBeUndefined();
    expect(fleet.keys.parkingOf('one#2')).toBeUndefined();
  });

  it('asks at once when a call was refused, but not again within half a minute', async () => {
    await start();
    await settle(40_000);
    answers['key-1'] = { status: 403 };
    asked.length = 0;
    const refused = new UpstreamFailure('key', 'upstream_auth', 'refused');
    keys.failed(at('one#1').upstream, refused);
    keys.failed(at('one#1').upstream, refused);
    await settle();
    expect(asked).toEqual(['key-1']);
    expect(fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'refused' });
    keys.failed(at('two').upstream, refused);
    expect(fleet.keys.parkingOf('two')).toMatchObject({ reason: 'refused' });
  });

  it('tries a refused key again after a minute where nobody can be asked about it', async () => {
    await start();
    keys.failed(at('two').upstream, new UpstreamFailure('key', 'upstream_auth', 'refused'));
    await settle(59_000);
    expect(fleet.keys.parkingOf('two')).toMatchObject({ reason: 'refused' });
    await settle(1_000);
    expect(fleet.keys.parkingOf('two')).toBeUndefined();
    keys.failed(at('two').upstream, new UpstreamFailure('key', 'insufficient_quota', 'used up'));
    await settle(FIVE_MINUTES);
    expect(fleet.keys.parkingOf('two')).toMatchObject({ reason: 'quota' });
  });

  it('leaves a used-up key out, also where the next check says that it is known and has nothing left', async () => {
    await start();
    keys.failed(at('one#1').upstream, new UpstreamFailure('key', 'insufficient_quota', 'used up'));
    answers['key-1'] = { status: 200, body: { tier: 'pro', remaining: 0 } };
    await settle(FIVE_MINUTES);
    expect(fleet.keys.parkingOf('one#1')).toMatchObject({ reason: 'quota' });
    answers['key-1'] = { status: 200, body: { tier: 'pro', remaining: 100 } };
    await settle(FIVE_MINUTES);
    expect(fleet.keys.parkingOf('one#1')).toBeUndefined();
  });

  it('takes a model’s keys in turn whatever becomes of those of its fallbacks, and whoever looks meanwhile', async () => {
    await start();
    const planner = new RoutePlanner(places, () => new OpenAiAdapter(new UndiciTransport()), keys);
    const request = (name: string): PlanRequest => ({
      names: [name],
      isExplicit: false,
      caller: { id: 'c', tier: 'enterprise', scopes: ['chat'], weight: 1, limits: {} },
      isStrict: false,
      body: {},
      bodyLength: 10,
      maxOutputTokens: 0,
      countPrompt: () => Promise.resolve(1),
    });
    const firstOf = ({ candidates }: RoutePlan): string | undefined => candidates[0]?.deployment.upstream.keyId;
    const smalls: (string | undefined)[] = [];
    const larges: (string | undefined)[] = [];
    for (let call = 0; call < 4; call += 1) {
      smalls.push(firstOf(await planner.plan(request('small'))));
      larges.push(firstOf(await planner.plan(request('large'))));
      await planner.preview(request('small'));
    }
    expect(smalls).toEqual(['one#1', 'one#2', 'one#1', 'one#2']);
    expect(larges).toEqual(['one#1', 'one#2', 'one#1', 'one#2']);
  });

  it('takes equal keys in turn, and the one with more left first; providers keep their order', async () => {
    await start();
    const deployments = places.liveDeployments(small);
    const orders = [1, 2, 3].map(() => {
      const [first, ...others] = keys.rotate(deployments);
      if (first !== undefined) keys.took(first);
      return [first, ...others].map((each) => each?.upstream.keyId);
    });
    expect(orders[0]).not.toEqual(orders[1]);
    expect(orders[0]).toEqual(orders[2]);
    for (const order of orders) expect(order[2]).toBe('two');
    answers = {
      'key-1': { status: 200, body: { tier: 'pro', remaining: 100 } },
      'key-2': { status: 200, body: { tier: 'pro', remaining: 100 } },
    };
    await settle(FIVE_MINUTES);
    for (let call = 0; call < 60; call += 1) fleet.keys.spent('one#1', { requests: 1 });
    for (let turn = 0; turn < 3; turn += 1) {
      expect(keys.rotate(deployments).map(({ upstream }) => upstream.keyId)).toEqual(['one#2', 'one#1', 'two']);
    }
    for (let call = 0; call < 39; call += 1) fleet.keys.spent('one#1', { requests: 1 });
    const need = { requests: 1, promptTokens: 0, outputTokens: 0, costUsd: 0 };
    expect([keys.isNearlyUsed(at('one#1'), need), keys.isNearlyUsed(at('one#2'), need)]).toEqual([true, false]);
  });
});
