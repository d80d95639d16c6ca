import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, CompletionRig, messages } from '../support/completion-rig.js';
import { json } from '../support/scripted-upstream.js';

describe('POST /v1/chat/completions?dryRun=true', () => {
  let rig: CompletionRig;
  beforeEach(async () => {
    rig = await CompletionRig.start();
  });
  afterEach(() => rig.close());

  async function dryRun(body: object, value = 'true'): Promise<Pick<Answer, 'status' | 'body'>> {
    const response = await fetch(`${rig.coordinator.url}/v1/chat/completions?dryRun=${value}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  it('answers route, tokens and cost, and calls nobody', async () => {
    const { status, body } = await dryRun({ model: 'test-alias', messages, max_tokens: 100 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion.dry_run',
      model: 'test-model',
      provider: 'p1',
      route: 'alias',
      candidates: [{ model: 'test-model', provider: 'p1' }],
      tokens: { prompt_is_bound: false, max_completion: 100 },
    });
    const { tokens, cost_usd: cost } = body as {
      tokens: { prompt: number };
      cost_usd: { prompt: number; at_most: number };
    };
    expect(tokens.prompt).toBeGreaterThan(0);
    // 2 USD in, 8 USD out, per million tokens.
    expect(cost.prompt).toBeCloseTo((tokens.prompt * 2) / 1e6, 9);
    expect(cost.at_most).toBeCloseTo((tokens.prompt * 2 + 100 * 8) / 1e6, 9);
    expect(rig.upstream.requests).toHaveLength(0);
  });

  it('says what has no price', async () => {
    expect(await dryRun({ model: 'small-model', messages })).toMatchObject({ body: { cost_usd: null } });
  });

  it('is refused with what the call would be refused with', async () => {
    expect(await dryRun({ model: 'nope', messages })).toMatchObject({
      status: 404,
      body: { error: { code: 'model_not_found' } },
    });
    expect(await dryRun({ model: 'test-model', messages: [] })).toMatchObject({ status: 400 });
  });

  it('tells which deployment would be passed over, and why', async () => {
    rig.upstream.play(json(401, {}));
    await rig.ask({ model: 'test-model', messages });
    expect(await dryRun({ model: 'test-model', messages })).toMatchObject({
      status: 502,
      body: { error: { code: 'upstream_auth' } },
    });
  });

  it('takes no misspelt true for a call', async () => {
    expect(await dryRun({ model: 'test-model', messages }, 'yes')).toMatchObject({
      status: 400,
      body: { error: { param: 'dryRun' } },
    });
    expect(rig.upstream.requests).toHaveLength(0);
  });

  it('calls with false', async () => {
    expect(await dryRun({ model: 'test-model', messages }, 'false')).toMatchObject({
      body: { object: 'chat.completion' },
    });
  });
});
