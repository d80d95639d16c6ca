import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/completion-rig.js';
import { modelAt } from '../support/config-file.js';
import { met } from '../support/reuse-rig.js';
import { asAsked, RouteRig } from '../support/route-rig.js';
import { json } from '../support/scripted-upstream.js';

const BROKEN = json(500, { error: { message: 'broken' } });

describe('the cache, where models answer for each other', () => {
  let rig: RouteRig;
  beforeEach(async () => {
    rig = await RouteRig.start({
      providers: ['acme', 'globex'],
      models: [
        modelAt('acme', 'one', { cacheTtlMs: '300s', fallbacks: ['two'] }),
        modelAt('globex', 'two', { cacheTtlMs: '300s' }),
      ],
      file: { attempts: { perDeployment: 1 } },
    });
    rig.play({ acme: asAsked('from one'), globex: asAsked('from two') });
  });
  afterEach(() => rig.close());

  const seen = (answer: Answer): readonly unknown[] => [
    met(answer),
    answer.headers.get('x-coordinator-model'),
    answer.headers.get('x-coordinator-route'),
  ];

  /** Until the deployment of `one` is left alone. */
  async function breakDown(): Promise<void> {
    rig.play({ acme: BROKEN });
    for (let failure = 0; failure < 3; failure += 1) await rig.ask({ seed: 1_000 + failure });
  }

  it('gives what a model has answered also while it is down', async () => {
    await rig.ask();
    await breakDown();
    const calls = rig.calls();
    expect(seen(await rig.ask())).toEqual(['hit', 'one', 'requested']);
    expect(rig.calls()).toEqual(calls);
  });

  it('keeps an answer under the model that gave it, so that nobody gets it once his own is back', async () => {
    rig.play({ acme: BROKEN });
    expect(seen(await rig.ask())).toEqual(['miss', 'two', 'error']);
    rig.play({ acme: asAsked('from one') });
    expect(seen(await rig.ask())).toEqual(['miss', 'one', 'requested']);
    expect(seen(await rig.ask({ model: 'two' }))).toEqual(['hit', 'two', 'requested']);
    expect(seen(await rig.ask({ model: undefined, models: ['two', 'one'] }))).toEqual(['hit', 'two', 'requested']);
  });

  it('gives the answer of the model that would answer now', async () => {
    await breakDown();
    expect(seen(await rig.ask())).toEqual(['miss', 'two', 'cooldown']);
    expect(seen(await rig.ask())).toEqual(['hit', 'two', 'cooldown']);
    expect(seen(await rig.ask({}, { 'x-coordinator-strict': 'true' }))).toEqual(['miss', null, null]);
  });

  it('counts what was met, and no tokens and no cost for what was given again', async () => {
    const metrics = async (): Promise<string> => (await fetch(`${rig.pod().url}/metrics`)).text();
    await rig.ask();
    const tokens = /^coordinator_tokens_total.*$|^coordinator_cost_usd_total.*$/gm;
    const before = (await metrics()).match(tokens);
    await rig.ask();
    await rig.ask({ cache: false, model: 'two' });
    const after = await metrics();
    const ofOne = (lines: readonly string[] | null) => lines?.filter((line) => line.includes('model="one"'));
    expect(ofOne(after.match(tokens))).toEqual(ofOne(before));
    expect(after).toContain('coordinator_cache_total{outcome="miss",model="one"} 1');
    expect(after).toContain('coordinator_cache_total{outcome="hit",model="one"} 1');
    expect(after).toContain('coordinator_cache_total{outcome="bypass",model="two"} 1');
    expect(after).toMatch(/coordinator_completions_total\{model="one",provider="acme",outcome="ok"\} 2/);
  });
});
