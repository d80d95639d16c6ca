import { Readable } from 'node:stream';
import { jest } from '@jest/globals';
import { HttpModule } from '@nestjs/axios';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Catalogue, type Deployment } from '../../src/ai/catalogue/catalogue.js';
import { Fleet } from '../../src/ai/fleet/index.js';
import { MemoryFleetStore } from '../../src/ai/fleet/memory-fleet.store.js';
import { KeyService } from '../../src/ai/keys/key.service.js';
import { UpstreamFailure } from '../../src/ai/upstream/upstream-failure.js';
import type { ModelSettings } from '../../src/config/index.js';
import { LockModule } from '../../src/lock/index.js';
import { createLogger, LOGGER } from '../../src/observability/index.js';
import { catalogue, deployment, model, provider } from './catalogues.js';
import { RootModule } from './lock-context.js';

/** `one` tells what its two keys are worth; `two` does not. */
export const places = catalogue({
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

export const small = modelNamed('small');
export const large = modelNamed('large');

export function at(key: string, of: ModelSettings = small): Deployment {
  const found = places.liveDeployments(of).find(({ upstream }) => upstream.keyId === key);
  if (found === undefined) throw new RangeError(`no key ${key}`);
  return found;
}

export const FIVE_MINUTES = 300_000;
export const REFUSED = new UpstreamFailure('key', 'upstream_auth', 'refused');

interface TestAnswer {
  readonly status: number;
  readonly body?: object;
}
/** A promise: the provider takes its time. */
export type KeyAnswer = TestAnswer | Error | Promise<TestAnswer>;

/** The keys of one pod before a provider that is played, in the time of Jest's timers. */
export class KeyRig {
  /** By the key that asks; the others are worth everything. */
  readonly answers: Record<string, KeyAnswer> = {};
  /** The keys that were asked about. */
  readonly asked: string[] = [];
  readonly fleet = new Fleet({
    store: new MemoryFleetStore(() => Date.now() * 1_000),
    deployments: places.deployments().map(({ id, upstream }) => ({ id, key: upstream.keyId })),
    models: [],
  });
  #app: INestApplicationContext | undefined;

  constructor() {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  }

  /** A pod that has just started, its checks on their way. */
  async start(): Promise<KeyService> {
    const http = HttpModule.register({
      validateStatus: null,
      transformResponse: [],
      adapter: async (config) => {
        const key = String(config.headers.get('authorization')).slice('Bearer '.length);
        this.asked.push(key);
        const answer = await (this.answers[key] ?? { status: 200, body: { tier: 'enterprise' } });
        if (answer instanceof Error) throw answer;
        const data = Readable.from([Buffer.from(JSON.stringify(answer.body ?? {}))]);
        return { data, status: answer.status, statusText: '', headers: {}, config };
      },
    });
    const root = {
      module: RootModule,
      imports: [http, LockModule.forRoot({ graceMs: 0 })],
      providers: [
        KeyService,
        { provide: Catalogue, useValue: places },
        { provide: Fleet, useValue: this.fleet },
        { provide: LOGGER, useValue: createLogger({ level: 'silent', secrets: [] }, { write: () => undefined }) },
      ],
    };
    this.#app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    await this.settle();
    return this.#app.get(KeyService);
  }

  /** The provider takes its time to say what this key is worth, until the answer that is given to the function. */
  late(key: string): (answer: TestAnswer) => void {
    const { promise, resolve } = deferred();
    this.answers[key] = promise;
    return resolve;
  }

  /** Lets answers arrive, and time pass. */
  async settle(ms = 100): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) await jest.advanceTimersByTimeAsync(ms / 10);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The pod goes down; what it shared stays. */
  async stop(): Promise<void> {
    await this.#app?.close();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.fleet.close();
    jest.useRealTimers();
  }
}

function deferred(): { readonly promise: Promise<TestAnswer>; readonly resolve: (answer: TestAnswer) => void } {
  let resolve: (answer: TestAnswer) => void = () => undefined;
  const promise = new Promise<TestAnswer>((settled) => {
    resolve = settled;
  });
  return { promise, resolve };
}
