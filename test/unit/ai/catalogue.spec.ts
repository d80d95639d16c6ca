import { describe, expect, it } from '@jest/globals';
import { PROVIDER_KINDS } from '../../../src/config/index.js';
import { catalogue, deployment, model, provider } from '../../support/catalogues.js';

describe('Catalogue', () => {
  it('serves every model by the simulator alone once it has its URL, whatever has been shut down', () => {
    const simulated = catalogue({ simulatorUrl: 'http://127.0.0.1:1/v1' });
    for (const entry of simulated.models) {
      expect(simulated.liveDeployments(entry).map(({ upstream, model: name }) => [upstream.name, name])).toEqual([
        ['simulator', entry.name],
      ]);
      expect(simulated.shutdownOf(entry)).toBeUndefined();
    }
  });

  it('puts the cheapest first where the model prefers it, and what has no price last', () => {
    const { prices: _, ...unpriced } = deployment('two');
    const cheap = deployment('one', { prices: { input: 0.1, cachedInput: 0.1, output: 0.1 } });
    const entry = model('m', [unpriced, deployment('one'), cheap], { prefer: 'cheapest' });
    const live = catalogue({ models: [entry] }).liveDeployments(entry);
    expect(live.map(({ prices }) => prices?.input)).toEqual([0.1, 1, undefined]);
  });

  it.each(PROVIDER_KINDS)('reaches providers of kind %s', (kind) => {
    const entry = model('m', [deployment('one')]);
    const providers = [{ ...provider('one', 'k'), kind }];
    const [first] = catalogue({ models: [entry], providers }).liveDeployments(entry);
    expect(first?.upstream).toMatchObject({ name: 'one', kind });
  });

  it('makes one deployment of each key of a provider, in order', () => {
    const entry = model('m', [deployment('one')]);
    const providers = [{ ...provider('one'), apiKeys: ['k1', 'k2'], apiKeyVariables: ['KEY', 'KEY_2'] }];
    const found = catalogue({ models: [entry], providers }).liveDeployments(entry);
    expect(found.map(({ id, upstream }) => [id, upstream.apiKey])).toEqual([
      ['one#1/one-name', 'k1'],
      ['one#2/one-name', 'k2'],
    ]);
  });

  it('knows which models a provider in use serves', () => {
    expect(
      catalogue()
        .upstreams()
        .map(({ name }) => [name, catalogue().modelsAt(name)]),
    ).toEqual([
      ['one', ['big', 'small', 'gone']],
      ['two', ['big']],
    ]);
  });
});
