import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anthropicRig } from '../contract/provider.anthropic-rig.js';
import { messages } from '../support/completion-rig.js';
import { type KindRig, startKind } from '../support/kinds-rig.js';

/** A megabyte; cut in any odd place it is torn. */
const LONG = `a${'😀'.repeat(250_000)}`;
/** As much as a request's head may hold. */
const LONGISH = 'b'.repeat(12_000);

const chat = { model: 'm', messages };
const named = { [LONG]: 1 };

let kind: KindRig;
beforeAll(async () => {
  kind = await startKind(anthropicRig);
});
afterAll(() => kind.close());

describe('what a caller wrote is told in a few hundred characters', () => {
  it.each<[what: string, status: number, method: string, path: string, body: unknown]>([
    ['a member that a conversation has not', 400, 'POST', '/v1/conversations', named],
    [
      'ten of them',
      400,
      'POST',
      '/v1/conversations',
      Object.fromEntries('abcdefghij'.split('').map((x) => [x + LONG, 1])),
    ],
    ['a name in metadata', 400, 'POST', '/v1/conversations', { metadata: named }],
    ['a member that the provider has not', 422, 'POST', '/v1/chat/completions', { ...chat, ...named }],
    [
      'one inside a message',
      422,
      'POST',
      '/v1/chat/completions',
      { ...chat, messages: [{ ...messages[0], ...named }] },
    ],
    ['a value', 422, 'POST', '/v1/chat/completions', { ...chat, response_format: { type: LONG } }],
    ['a model', 400, 'POST', '/v1/chat/completions', { ...chat, model: LONG }],
    ['a role', 422, 'POST', '/v1/chat/completions', { ...chat, messages: [{ role: LONG, content: 'x' }] }],
    ['an item of a batch', 200, 'POST', '/v1/chat/completions/batch', { requests: [{ ...chat, ...named }] }],
    ['JSON that is none', 400, 'POST', '/v1/chat/completions', `{"${LONG}"}`],
    ['a query', 400, 'GET', `/v1/locks?${LONGISH}=1`, undefined],
    ['a misspelt dry run', 400, 'POST', `/v1/chat/completions?dryrun${'_'.repeat(12_000)}=1`, chat],
    ['a path', 404, 'GET', `/v1/${LONGISH}`, undefined],
    ['a lock', 400, 'GET', `/v1/locks/${LONGISH}`, undefined],
    ['a model’s card', 400, 'GET', `/v1/models/${LONGISH}`, undefined],
  ])('%s', async (_, status, ...[method, path, body]) => {
    const answer = await fetch(`${kind.coordinator.url}${path}`, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    });
    const text = await answer.text();
    expect([answer.status, text.length < 3_000, text]).toEqual([status, true, expect.stringContaining('"error":{')]);
    // Throws where a pair of surrogates is torn.
    expect(() => encodeURIComponent(JSON.stringify(JSON.parse(text)))).not.toThrow();
    expect(text).not.toMatch(/\\ud[89a-f]/i);
  });
});
