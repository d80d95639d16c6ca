import { expect, it } from '@jest/globals';
import { answering, attemptAt, MODEL, plainBody, textReply } from './provider.attempts.js';
import { collected } from './provider.collector.js';
import type { Understood, Subject } from './provider.rig.js';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather of a city', parameters: CITY },
};
const clock = { type: 'function', function: { name: 'get_time', parameters: { type: 'object', properties: {} } } };

/** A request reaches the provider with the meaning it had. */
export function describeRequests({ rig, bench }: Subject): void {
  const understood = async (members: Record<string, unknown>): Promise<Understood> => {
    const { adapter, fake } = bench();
    fake.play(answering(rig.wire, textReply('ok')));
    expect(adapter.untranslatable({ ...plainBody, ...members })).toBeUndefined();
    await adapter.complete(attemptAt(bench(), members));
    const [request] = fake.requests.slice(-1);
    if (request === undefined) throw new Error('nothing reached the provider');
    return rig.wire.understand(request);
  };
  const user = (text: string): object => ({ role: 'user', parts: [{ kind: 'text', text }] });

  it.each([false, true])('at its address, with its credentials and model name (stream: %s)', async (isStream) => {
    const { adapter, fake } = bench();
    fake.play(answering(rig.wire, textReply('ok')));
    const attempt = attemptAt(bench(), isStream ? { stream: true } : {});
    if (isStream) await collected(await adapter.stream(attempt));
    else await adapter.complete(attempt);
    const { path, headers } = rig.wire.address({ model: MODEL, isStream });
    expect(fake.requests).toEqual([
      expect.objectContaining({
        path,
        headers: expect.objectContaining({
          ...headers,
          'content-type': 'application/json',
          'x-request-id': 'request-1',
        }),
      }),
    ]);
    expect(fake.requests.map((request) => rig.wire.understand(request))).toMatchObject([{ model: MODEL, isStream }]);
  });

  it('with plain text', async () => {
    expect(await understood({})).toMatchObject({ system: [], turns: [user('Hi')], tools: [] });
  });

  it('with a conversation that began at another provider, whose signatures say nothing here', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'get_time', arguments: '{"n":1}' } };
    const begun = (message: object, more: object): object[] => [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'I look.', tool_calls: [{ ...call, ...more }], ...message },
      { role: 'tool', tool_call_id: 'call_1', content: 'noon' },
    ];
    const google = { extra_content: { google: { thought_signature: 'c2ln' } } };
    const thinking = { thinking_blocks: [{ type: 'thinking', thinking: 'hm', signature: 'sig' }] };
    const { turns } = await understood({ messages: begun({}, {}), tools: [clock] });
    // Its own signatures go back to whoever signed; they are tested there.
    for (const [kind, foreign] of [
      ['vertex', begun({ ...google, reasoning_content: 'hm' }, google)],
      ['anthropic', begun({ ...thinking, reasoning_content: 'hm' }, {})],
      // DeepSeek's thoughts; in its own format the provider is the judge of them.
      ...(rig.untranslatable.length > 0
        ? [
            ['openai', begun({ reasoning_content: 'hm' }, {})] as const,
            ['openai', begun({ reasoning: 'hm', reasoning_details: [{ type: 'reasoning.text' }] }, {})] as const,
          ]
        : []),
    ] as const) {
      if (kind === rig.kind) continue;
      const { turns: told } = await understood({ messages: foreign, tools: [clock] });
      expect(told).toEqual(turns);
      expect(bench().fake.requests.at(-1)?.text).not.toMatch(/thinking|signature":"(c2ln|sig)|extra_content/);
    }
  });

  it('with all turns in order, and what the system says', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'developer', content: [{ type: 'text', text: 'Answer in German.' }] },
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hallo.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Two' },
          { type: 'text', text: 'parts' },
        ],
      },
      { role: 'user', content: 'and more 你好😀' },
    ];
    const { system, turns } = await understood({ messages });
    expect(system.join('\n')).toBe('Be brief.\nAnswer in German.');
    expect(turns).toEqual([
      user('Hi'),
      { role: 'assistant', parts: [{ kind: 'text', text: 'Hallo.' }] },
      { role: 'user', parts: ['Two', 'parts', 'and more 你好😀'].map((text) => ({ kind: 'text', text })) },
    ]);
  });

  it('with images, inline and by address', async () => {
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url: PNG } },
      { type: 'image_url', image_url: { url: 'https://images.example/cat.jpg', detail: 'auto' } },
    ];
    const { turns } = await understood({ messages: [{ role: 'user', content }] });
    expect(turns).toEqual([
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'What is it?' },
          { kind: 'image', source: PNG },
          { kind: 'image', source: 'https://images.example/cat.jpg' },
        ],
      },
    ]);
  });

  it('with tools, and how to choose among them', async () => {
    const named = { type: 'function', function: { name: 'get_time' } };
    for (const [choice, expected] of [
      ['auto', 'auto'],
      ['none', 'none'],
      ['required', 'required'],
      [named, 'get_time'],
    ]) {
      const said = await understood({ tools: [weather, clock], tool_choice: choice });
      expect(said).toMatchObject({
        toolChoice: expected,
        tools: [{ name: 'get_weather', description: 'Weather of a city', schema: CITY }, { name: 'get_time' }],
      });
    }
  });

  it('with the calls of tools and their results', async () => {
    const call = (id: string, name: string, input: string): object => ({
      id,
      type: 'function',
      function: { name, arguments: input },
    });
    const messages = [
      { role: 'user', content: 'Weather and time?' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [call('call_1', 'get_weather', '{"city":"Zürich"}'), call('call_2', 'get_time', '{}')],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '21 °C' },
      { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: '12:00' }] },
      { role: 'user', content: 'And?' },
    ];
    const { turns } = await understood({ messages, tools: [weather, clock] });
    expect(turns.slice(1)).toEqual([
      {
        role: 'assistant',
        parts: [
          { kind: 'text', text: 'I look.' },
          { kind: 'call', name: 'get_weather', input: { city: 'Zürich' } },
          { kind: 'call', name: 'get_time', input: {} },
        ],
      },
      {
        role: 'user',
        parts: [
          { kind: 'result', of: 'get_weather', text: '21 °C' },
          { kind: 'result', of: 'get_time', text: '12:00' },
          { kind: 'text', text: 'And?' },
        ],
      },
    ]);
  });

  it('with what steers the answer', async () => {
    const said = await understood({ temperature: 0.2, top_p: 0.9, stop: ['END', '###'], max_tokens: 77 });
    expect(said).toMatchObject({ temperature: 0.2, topP: 0.9, stop: ['END', '###'], maxTokens: 77 });
    expect(await understood({ max_completion_tokens: 78, stop: 'END' })).toMatchObject({
      maxTokens: 78,
      stop: ['END'],
    });
  });

  it('with the schema that the answer must follow', async () => {
    const schema = { ...CITY, additionalProperties: false };
    const format = { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } };
    expect(await understood({ response_format: format })).toMatchObject({ schema });
  });

  it('and takes a null for a member that is not given', async () => {
    const said = await understood({
      temperature: null,
      stop: null,
      tools: null,
      response_format: null,
      max_tokens: null,
    });
    expect(said).toMatchObject({ turns: [user('Hi')], tools: [] });
  });

  it.each(rig.harmless.map((members) => [JSON.stringify(members), members] as const))(
    'without a word about %s, which asks for nothing',
    async (_, members) => {
      expect(await understood({ ...members })).toMatchObject({ turns: [user('Hi')] });
    },
  );

  if (rig.untranslatable.length > 0) describeRefusals({ rig, bench });
  else {
    it('and lets the provider be the judge of it', () => {
      const odd = { ...plainBody, n: 2, logit_bias: { 1: 1 }, a_member_of_next_year: 1, messages: 7 };
      expect(bench().adapter.untranslatable(odd)).toBeUndefined();
    });
  }
}

/** What can't be said is refused by name, and never dropped. */
function describeRefusals({ rig, bench }: Subject): void {
  it.each(rig.untranslatable.map(({ members, param }) => [param, members] as const))(
    'but refuses %s, which has no counterpart there: %j',
    async (param, members) => {
      const { adapter, fake } = bench();
      const why: unknown = expect.stringMatching(/^[a-z"]/);
      expect(adapter.untranslatable({ ...plainBody, ...members })).toEqual({ param, why });
      const refusal = { blame: 'request', code: 'unprocessable', param };
      await expect(adapter.complete(attemptAt(bench(), members))).rejects.toMatchObject(refusal);
      await expect(adapter.stream(attemptAt(bench(), members))).rejects.toMatchObject(refusal);
      expect(fake.requests).toEqual([]);
    },
  );
}
