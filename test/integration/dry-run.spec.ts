import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, CompletionRig, messages } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { record } from '../support/schema.checker.js';
import { json } from '../support/scripted-upstream.js';

describe('POST /v1/chat/completions?dryRun=true', () => {
  let rig: CompletionRig;
  beforeEach(async () => {
    rig = await CompletionRig.start();
  });
  afterEach(() => rig.close());

  const dryRun = (body: object, value = 'true'): Promise<Pick<Answer, 'status' | 'body'>> =>
    asked(`dryRun=${value}`, body);

  async function asked(query: string, body: object): Promise<Pick<Answer, 'status' | 'body'>> {
    const response = await fetch(`${rig.coordinator.url}/v1/chat/completions?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  it('answers route, tokens and cost, and calls nobody', async () => {
    const request = { model: 'test-alias', messages, max_tokens: 100 };
    // The words are loaded for the first count: on a busy machine longer than a call waits for it.
    await eventually(async () => record((await dryRun(request)).body['tokens'])['prompt_is_bound'] === false);
    const { status, body } = await dryRun(request);
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

  it.each(['dryRun=true', 'dryrun=1'])('buys no batch either: %s', async (query) => {
    const response = await fetch(`${rig.coordinator.url}/v1/chat/completions/batch?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', requests: [{ messages }] }),
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('dryRun');
    expect(rig.upstream.requests).toHaveLength(0);
  });

  it('takes no misspelt true for a call', async () => {
    for (const value of ['yes', '1', 'TRUE', 'True', '', 'true&dryRun=true', 'false&dryRun=true', '%20true']) {
      const { status, body } = await dryRun({ model: 'test-model', messages }, value);
      expect({ value, status, body }).toMatchObject({ value, status: 400, body: { error: { param: 'dryRun' } } });
    }
    expect(rig.upstream.requests).toHaveLength(0);
  });

  it('takes no misspelt name for a call either', async () => {
    const names = [
      'dryrun',
      'DryRun',
      'DRYRUN',
      'dry_run',
      'dry-run',
      'dryRun%20',
      '%20dryRun',
      'dryRun[]',
      'a=1&dryrun',
      'dryRun%3Dtrue&a',
    ];
    for (const query of names.flatMap((name) => [`${name}=true`, `${name}=false`])) {
      const { status, body } = await asked(query, { model: 'test-model', messages });
      expect({ query, status, body }).toMatchObject({
        query,
        status: 400,
        body: { error: { code: 'invalid_request' } },
      });
      expect(JSON.stringify(body)).toContain('did you mean dryRun?');
    }
    expect(rig.upstream.requests).toHaveLength(0);
  });

  it('is a call with parameters that are nobody’s here', async () => {
    for (const query of ['', 'api-version=2024-10-21', 'beta=true', '__proto__=dryrun']) {
      const { status, body } = await asked(query, { model: 'test-model', messages });
      expect({ query, status, body }).toMatchObject({ query, status: 200, body: { object: 'chat.completion' } });
    }
  });

  it('calls with false', async () => {
    expect(await dryRun({ model: 'test-model', messages }, 'false')).toMatchObject({
      body: { object: 'chat.completion' },
    });
  });
});
