import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { CompletionObserver } from '../../../src/ai/call/completion.observer.js';
import { Fleet } from '../../../src/ai/fleet/index.js';
import { StatusService } from '../../../src/ai/status/status.service.js';
import { createLogger } from '../../../src/observability/index.js';
import { catalogue, deployment, model, provider } from '../../support/catalogues.js';
import { CountedStore } from '../../support/fake-fleet.js';

const places = catalogue({
  models: [
    model('m', [deployment('one'), deployment('two', { shutdownAt: Date.UTC(2027, 0, 14) })], { limits: { rpm: 5 } }),
  ],
  providers: [provider('one', 'k1'), provider('two', 'k2')],
  tiers: { free: [], pro: [], enterprise: ['m'] },
});
const attempts = { perRequest: 6, perDeployment: 2, firstBackoffMs: 1, longestBackoffMs: 1, patienceMs: 1 };

let store: CountedStore;
let fleet: Fleet;
let other: Fleet;
let observer: CompletionObserver;
let status: StatusService;
const fleetOn = (): Fleet =>
  new Fleet({
    store,
    deployments: places.deployments().map(({ id, upstream }) => ({ id, key: upstream.keyId })),
    models: [{ name: 'm', firstTokenMs: 1_000 }],
  });
beforeEach(() => {
  store = new CountedStore();
  fleet = fleetOn();
  other = fleetOn();
  observer = new CompletionObserver(
    new Registry(),
    createLogger({ level: 'silent', secrets: [] }, { write: () => undefined }),
  );
  const options = {
    models: [],
    providers: [],
    tiers: { free: [], pro: [], enterprise: [] },
    attempts,
    cache: { maxBytes: 1_024, maxEntryBytes: 1_024, idempotencyMs: 60_000 },
    ledger: { keepMs: 86_400_000 },
    requestDeadlineMs: 9_000,
  };
  status = new StatusService(places, fleet, observer, options);
});
afterEach(async () => {
  store.state = 'up';
  await fleet.close();
  await other.close();
});

describe('StatusService', () => {
  it('tells what other pods have learned, also those things that they do not call out', async () => {
    other.keys.checked('one', { tier: 'pro', remaining: 7 });
    other.limits.told('two/two-name', { 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '60s' });
    for (let call = 0; call < 20; call += 1) other.latencies.streamed('m', 4_000);
    await other.refresh();
    const { pod, keys, models } = await status.look();
    expect(pod).toMatchObject({ isAlone: false, isSimulated: false, requestDeadlineMs: 9_000, attempts });
    expect(keys[0]).toMatchObject({ key: 'one', worth: { tier: 'pro', remaining: 7, isStale: false } });
    expect(models[0]).toMatchObject({ model: 'm', limits: { rpm: 5 }, latency: { firstTokenLimitMs: 10_000 } });
    expect(models[0]?.deployments.map(({ deployment: id, rateLimits }) => [id, rateLimits.length])).toEqual([
      ['one/one-name', 0],
      ['two/two-name', 1],
    ]);
  });

  it('tells what this pod has seen itself while the store is away, and says so', async () => {
    store.state = 'down';
    fleet.keys.park('one', 'quota', 60_000);
    const { pod, keys } = await status.look();
    expect(pod.isAlone).toBe(true);
    expect(keys.map(({ key, state }) => [key, state])).toEqual([
      ['one', 'quota used up'],
      ['two', 'in use'],
    ]);
    store.state = 'up';
    expect((await status.look()).pod.isAlone).toBe(false);
  });

  it('takes a provider for as good as its best deployment', async () => {
    for (let call = 0; call < 3; call += 1)
      fleet.standings.failed('one/one-name', { code: 'upstream_error', tookMs: 1 });
    expect([status.stateOf('one'), status.stateOf('two')]).toEqual(['cooldown', 'in use']);
    fleet.keys.park('two', 'refused', 60_000);
    expect(status.stateOf('two')).toBe('key refused');
    expect((await status.look()).keys.map(({ state }) => state)).toEqual(['cooldown', 'key refused']);
  });

  it('counts what is in flight at each deployment, and tells the end that a vendor has named', async () => {
    const end = observer.inFlight.begin('two/two-name', 'm');
    const { pod, models } = await status.look();
    end();
    expect(pod.inFlight).toBe(1);
    expect(models[0]?.deployments.map(({ inFlight, shutdownAt }) => [inFlight, shutdownAt])).toEqual([
      [0, undefined],
      [1, Date.UTC(2027, 0, 14)],
    ]);
  });
});
