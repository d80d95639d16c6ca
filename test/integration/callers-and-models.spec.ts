import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CompletionRig, messages } from '../support/completion-rig.js';

const keys = { rich: 'rich-key-0123456789', poor: 'poor-key-0123456789' };
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

describe('callers and their tiers', () => {
  let rig: CompletionRig;

  beforeAll(async () => {
    rig = await CompletionRig.start({
      environment: { CALLER_KEYS: `rich:enterprise:${keys.rich},poor:free:${keys.poor}` },
      tiers: { free: ['small-model'], pro: ['small-model'], enterprise: ['test-model', 'small-model'] },
    });
  });
  afterAll(() => rig.close());

  const ask = (model: string, headers: Record<string, string>) => rig.ask({ model, messages }, headers);

  it('refuses a call without a known key', async () => {
    for (const headers of [{}, bearer('wrong')]) {
      const { status, body } = await ask('test-model', headers);
      expect(status).toBe(401);
      expect(body).toMatchObject({ error: { code: 'invalid_api_key', type: 'authentication_error' } });
    }
    expect(rig.upstream.requests).toHaveLength(0);
  });

  it('answers a model outside the tier with the first one inside, and says so', async () => {
    const { status, headers, body } = await ask('test-model', bearer(keys.poor));
    expect(status).toBe(200);
    expect(body['model']).toBe('small-model');
    expect(headers.get('x-coordinator-route')).toBe('tier');
    expect(headers.get('x-coordinator-model')).toBe('small-model');
    expect(rig.upstream.requests.at(-1)?.body['model']).toBe('upstream-small');
  });

  it('refuses it instead when the caller is strict', async () => {
    const { status, body } = await ask('test-model', { ...bearer(keys.poor), 'x-coordinator-strict': 'true' });
    expect(status).toBe(403);
    expect(body).toMatchObject({ error: { code: 'model_not_allowed', type: 'permission_error', param: 'model' } });
  });

  it.each(['True', '1', 'maybe', ''])('does not take %j for a yes or no to a substitute', async (strict) => {
    const { status, body } = await ask('test-model', { ...bearer(keys.poor), 'x-coordinator-strict': strict });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { param: 'x-coordinator-strict' } });
  });

  it('answers within the tier with the model that was asked for, by its name or an alias', async () => {
    expect((await ask('test-model', bearer(keys.rich))).headers.get('x-coordinator-route')).toBe('requested');
    expect((await ask('test-alias', bearer(keys.rich))).headers.get('x-coordinator-route')).toBe('alias');
  });

  it('lists the models with what the caller may use', async () => {
    const response = await fetch(`${rig.coordinator.url}/v1/models`, { headers: bearer(keys.poor) });
    const list = (await response.json()) as { object: string; data: Record<string, unknown>[] };
    expect(list.object).toBe('list');
    expect(list.data.map(({ id, allowed }) => [id, allowed])).toEqual([
      ['test-model', false],
      ['small-model', true],
    ]);
    expect(list.data[0]).toEqual({
      id: 'test-model',
      object: 'model',
      created: 1,
      owned_by: 'p1',
      aliases: ['test-alias'],
      context_window: 1_000_000,
      max_output_tokens: 10_000,
      pricing: { input: 2, cached_input: 0.5, output: 8 },
      allowed: false,
      shutdown_date: null,
      successor: null,
    });
  });

  it('shows one model, by name or alias, and 404 for any other', async () => {
    const get = (id: string) => fetch(`${rig.coordinator.url}/v1/models/${id}`, { headers: bearer(keys.rich) });
    expect(await (await get('test-alias')).json()).toMatchObject({ id: 'test-model', allowed: true });
    const missing = await get('nope');
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { code: 'model_not_found' } });
  });

  it('logs one line per completion with what it did, and no key', async () => {
    await ask('test-model', bearer(keys.rich));
    const line =
      rig.coordinator
        .logs()
        .split('\n')
        .findLast((text) => text.includes('"msg":"request"')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      caller: 'rich',
      model: 'test-model',
      provider: 'p1',
      routed: 'requested',
      attempts: 1,
      prompt_tokens: 10,
      completion_tokens: 2,
      cost_usd: 0.000036,
      route: '/v1/chat/completions',
      status: 200,
    });
    for (const secret of [...Object.values(keys), 'upstream-key-1'])
      expect(rig.coordinator.logs()).not.toContain(secret);
  });

  it('counts completions, tokens and cost', async () => {
    const text = await (await fetch(`${rig.coordinator.url}/metrics`)).text();
    expect(text).toMatch(/coordinator_completions_total\{model="test-model",provider="p1",outcome="ok"\} \d+/);
    expect(text).toMatch(/coordinator_tokens_total\{model="test-model",provider="p1",kind="prompt"\} \d+/);
    expect(text).toMatch(/coordinator_cost_usd_total\{model="test-model",provider="p1"\} [\d.e-]+/);
  });
});
