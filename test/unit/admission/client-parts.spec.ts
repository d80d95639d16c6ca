import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { localShare } from '../../../src/admission/client/local.share.js';
import { ScopeBook } from '../../../src/admission/client/scope.book.js';
import { ScopeClient } from '../../../src/admission/client/scope.client.js';
import { StoreClock } from '../../../src/admission/client/store.clock.js';
import { StoreLine } from '../../../src/admission/client/store.line.js';
import {
  AdmissionBusyError,
  AdmissionClosedError,
  AdmissionModule,
  AdmissionOptionsError,
  AdmissionService,
  MemoryAdmissionStore,
  scopeRules,
} from '../../../src/admission/index.js';
import { nodeEnvironment } from '../../../src/store/index.js';
import { AdmissionPods, fill, refusalOf, scopeOf, wishFor } from '../../support/admission-pods.js';
import { RootModule } from '../../support/lock-context.js';
import { pass } from '../../support/pass.js';
import { VirtualTime } from '../../support/test-time.js';

describe('StoreClock', () => {
  it('takes the reading with the shortest way, and never runs ahead of the store', () => {
    let now = 0;
    const clock = new StoreClock(() => now);
    for (const delay of [80, 5, 40, 300]) {
      now += 1_000;
      clock.read(now - delay + 1_000_000);
      expect(clock.until(now + 1_000_000)).toBeGreaterThanOrEqual(0);
    }
    expect(clock.until(now + 1_000_000)).toBe(5);
  });

  it('follows a store whose clock runs slower', () => {
    let now = 0;
    const clock = new StoreClock(() => now);
    for (; now < 10_000_000; now += 1_000) clock.read(now * 0.9999, now - 3);
    expect(Math.abs(clock.until(now * 0.9999))).toBeLessThan(6);
  });

  it('believes an answer more than what it believed before, when a clock has stepped', () => {
    let now = 0;
    const clock = new StoreClock(() => now);
    clock.read(1_000_000, -2);
    now += 5_000;
    clock.read(1_002_000, now - 2);
    expect(Math.abs(clock.until(1_002_000))).toBeLessThanOrEqual(3);
    now += 1_000;
    clock.read(2_000_000, now - 2);
    expect(clock.until(2_000_000)).toBe(0);
  });
});

describe('localShare()', () => {
  it('never gives all processes together more than the limit', () => {
    const limits = { windows: [{ windowMs: 60_000, requests: 100, tokens: 1_000 }], concurrency: 7 };
    for (let number = 1; number <= 7; number += 1) {
      const share = localShare(scopeRules(limits), number);
      expect((share?.concurrency ?? 0) * number).toBeLessThanOrEqual(7);
      expect((share?.windows[0]?.requests ?? 0) * number).toBeLessThanOrEqual(100);
      expect((share?.windows[0]?.tokens ?? 0) * number).toBeLessThanOrEqual(1_000);
    }
    expect(localShare(scopeRules(limits), 8)).toBeUndefined();
  });
});

describe('ScopeBook', () => {
  it('forgets callers that have not been heard of for their longest window, and no other', () => {
    const environment = nodeEnvironment();
    const line = new StoreLine(new MemoryAdmissionStore(), environment);
    const ports = { hasSeen: () => false, localMs: () => undefined, heard: () => undefined, failed: () => undefined };
    const ground = { environment, line, process: 'p', isLocal: false, ...ports };
    let now = 0;
    const scopes = new ScopeBook(
      () => now,
      (scope) => new ScopeClient(scope, ground),
    );
    for (let caller = 0; caller < 5_000; caller += 1) {
      const scope = scopeOf({ windows: [{ windowMs: 1_000, requests: 1 }] }, `caller:${String(caller)}`);
      scopes.clientFor(scope);
      scopes.heard(scope);
      expect(scopes.hasSeen(scope)).toBe(true);
      now += 10;
    }
    expect(scopes.all().length).toBeLessThanOrEqual(2 * 130);
    now += 2_000;
    expect(scopes.hasSeen(scopeOf({ windows: [{ windowMs: 1_000, requests: 1 }] }, 'caller:4999'))).toBe(false);
  });
});

describe('AdmissionService', () => {
  const time = new VirtualTime();
  let pods: AdmissionPods;
  beforeEach(() => {
    time.begin();
    pods = new AdmissionPods();
  });
  afterEach(async () => {
    await pods.close();
    time.end();
  });

  it('pauses all pods for as long as the upstream asked, and keeps the order of who waits', async () => {
    const [pod, other] = [pods.pod(), pods.pod()];
    const scope = scopeOf({ concurrency: 5 });
    await pod.service.hold(scope, 3_000);
    const error = await refusalOf(AdmissionBusyError, other.service.reserve(wishFor(scope, { waitMs: 0 })));
    expect(error.rule).toEqual({ kind: 'hold' });
    const startedAt = performance.now();
    const reservation = await other.service.reserve(wishFor(scope));
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2_900);
    await reservation.settle();
  });

  it('lets in no more than the upstream told that it takes, for as long as it said', async () => {
    const [pod, other] = [pods.pod(), pods.pod()];
    const scope = scopeOf({ windows: [{ windowMs: 1_000, requests: 10 }] });
    await pod.service.learn(scope, [{ windowMs: 1_000, requests: 2 }], 5_000);
    expect(await fill(other, wishFor(scope))).toHaveLength(2);
  });

  it('tells nothing that fails: these are hints', async () => {
    const pod = pods.pod();
    pod.way.always('unsent');
    const scope = scopeOf({ concurrency: 5 });
    await Promise.all([pod.service.hold(scope, 1_000), pod.service.learn(scope, [], 1_000)]);
  });

  it('is not harmed by an observer that throws', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const fault = (): never => {
      throw new Error('observer');
    };
    const observer = { waiting: fault, decided: fault, ended: fault, booked: fault };
    const pod = pods.pod({ observer: { ...observer, storeLost: fault, storeAway: fault, storeBack: fault } });
    const scope = scopeOf({ concurrency: 1 });
    await (await pod.service.reserve(wishFor(scope))).settle();
    pod.way.next('acquire', 'unsent');
    await (await pod.service.reserve(wishFor(scope))).settle();
    await pass(2_000);
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('takes no options that are none', () => {
    for (const options of [{ pods: 0 }, { mostWaiting: 0.5 }, { mostWaitingPerScope: -1 }, { graceMs: Number.NaN }]) {
      expect(() => new AdmissionService(new MemoryAdmissionStore(), options)).toThrow(AdmissionOptionsError);
    }
  });
});

describe('AdmissionModule', () => {
  it('provides the service to all modules, and closes it on shutdown', async () => {
    const root = { module: RootModule, imports: [AdmissionModule.forRoot({ graceMs: 0 })] };
    const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    const service = app.get(AdmissionService);
    const scope = scopeOf({ concurrency: 1 });
    await (await service.reserve(wishFor(scope))).settle();
    await app.close();
    await refusalOf(AdmissionClosedError, service.reserve(wishFor(scope)));
  });
});
