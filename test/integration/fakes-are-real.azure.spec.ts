import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI, { AzureOpenAI } from 'openai';
import { answering, reply } from '../contract/provider.attempts.js';
import { azureClassicRig, azureRig } from '../contract/provider.azure-rig.js';
import { json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';

/** OpenAI's own client for Azure, unmodified, takes the fake for the real thing, and asks it where the adapter does. */
describe('the fake of Azure OpenAI, read by openai', () => {
  const CALLED = reply([
    { kind: 'text', text: 'I look 你好😀.' },
    { kind: 'call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Zürich"}' },
  ]);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hi' }];
  let fake: ScriptedUpstream;
  let clients: readonly (readonly [OpenAI, typeof azureRig])[];

  beforeEach(async () => {
    fake = await startScriptedUpstream();
    const endpoint = fake.url.replace(/\/v1$/, '');
    const apiKey = 'azure-secret-key-1';
    clients = [
      [new AzureOpenAI({ endpoint, apiKey, apiVersion: '2024-10-21', maxRetries: 0 }), azureClassicRig],
      [
        new OpenAI({
          baseURL: `${endpoint}/openai/v1`,
          apiKey,
          defaultHeaders: { 'api-key': apiKey },
          maxRetries: 0,
        }),
        azureRig,
      ],
    ];
  });
  afterEach(() => fake.close());

  it('answers whole and as a stream, under both addresses', async () => {
    fake.play(answering(azureRig.wire, CALLED));
    for (const [client, rig] of clients) {
      fake.requests.length = 0;
      const whole = await client.chat.completions.create({ model: 'my-gpt', messages });
      const streamed = await client.chat.completions
        .stream({ model: 'my-gpt', messages, stream_options: { include_usage: true } })
        .finalChatCompletion();
      expect(whole.choices[0]?.message).toMatchObject({ content: 'I look 你好😀.', tool_calls: [{ id: 'call_1' }] });
      expect(streamed.choices[0]?.message).toMatchObject({ content: 'I look 你好😀.' });
      expect(streamed.usage).toEqual(whole.usage);
      const { path, headers } = rig.wire.address({ model: 'my-gpt', isStream: false });
      expect(fake.requests.map((request) => request.path)).toEqual([path, path]);
      expect(fake.requests[0]?.headers).toMatchObject(headers);
    }
  });

  it.each(azureRig.refusals.map((each) => [each.name, each] as const))('refuses: %s', async (_, refusal) => {
    fake.play(json(refusal.status, refusal.body, { ...refusal.headers }));
    const [[client] = []] = clients;
    const failure = await client?.chat.completions
      .create({ model: 'my-gpt', messages })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenAI.APIError);
    expect(failure).toMatchObject({ status: refusal.status });
  });
});
