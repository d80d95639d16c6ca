import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CompletionRig, messages } from '../support/completion-rig.js';

describe('the completions endpoint', () => {
  let rig: CompletionRig;

  beforeEach(async () => {
    rig = await CompletionRig.start();
  });
  afterEach(() => rig.close());

  describe('refuses', () => {
    it('with words that name the type first', async () => {
      const told = async (body: unknown): Promise<unknown> => (await rig.ask(body)).body;
      const base = { model: 'test-model', messages };
      expect(await told({ ...base, model: 5 })).toMatchObject({ error: { message: 'model must be a string' } });
      expect(await told({ ...base, messages: null })).toMatchObject({
        error: { message: 'messages must be an array of messages' },
      });
      expect(await told({ ...base, max_tokens: '5' })).toMatchObject({
        error: { message: 'max_tokens must be an integer number' },
      });
    });

    it.each([
      ['a body that is no object', '[1]', undefined],
      ['no messages', { model: 'test-model' }, 'messages'],
      ['empty messages', { model: 'test-model', messages: [] }, 'messages'],
      ['a message without a role', { model: 'test-model', messages: [{ content: 'x' }] }, 'messages[0].role'],
      ['no model', { messages }, 'model'],
      ['a model that is no string', { model: 7, messages }, 'model'],
      ['stream that is no boolean', { model: 'test-model', messages, stream: 'yes' }, 'stream'],
      ['max_tokens of zero', { model: 'test-model', messages, max_tokens: 0 }, 'max_tokens'],
    ])('%s with a 400 that names it', async (_, body, param) => {
      const answer = await rig.ask(body);
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { type: 'invalid_request_error', param: param ?? null } },
      });
      expect(rig.upstream.requests).toHaveLength(0);
    });

    it('an unknown model with 404 model_not_found', async () => {
      expect(await rig.ask({ model: 'nope', messages })).toMatchObject({
        status: 404,
        body: { error: { code: 'model_not_found', param: 'model' } },
      });
    });
  });

  it('row 63: health checks reach no provider', async () => {
    for (let poll = 0; poll < 200; poll += 1) {
      const [health, ready] = await Promise.all([
        fetch(`${rig.coordinator.url}/health`),
        fetch(`${rig.coordinator.url}/ready`),
      ]);
      await Promise.all([health.text(), ready.text()]);
      expect([health.status, ready.status]).toEqual([200, 200]);
    }
    expect(rig.upstream.requests).toHaveLength(0);
  });

  it('row 66: takes a picture of 9 MB', async () => {
    const url = `data:image/png;base64,${'A'.repeat(9_000_000)}`;
    const content = [{ type: 'image_url', image_url: { url } }];
    expect((await rig.ask({ model: 'test-model', messages: [{ role: 'user', content }] })).status).toBe(200);
    expect(rig.upstream.requests[0]?.text).toContain(url);
  });
});
