import { expect, it } from '@jest/globals';
import { costUsd, readUsage } from '../../src/ai/call/cost.js';
import { json } from '../support/scripted-upstream.js';
import { answering, attemptAt, reply, textReply } from './provider.attempts.js';
import type { Reply, Subject } from './provider.rig.js';

interface Completion {
  readonly id: unknown;
  readonly object: unknown;
  readonly created: unknown;
  readonly choices: readonly { readonly index: number; readonly finish_reason: string; readonly message: object }[];
  readonly usage: unknown;
}

/** What OpenAI's client reads of a whole answer is what the provider's model said. */
export function describeReplies({ rig, bench }: Subject): void {
  const completion = async (played: Reply): Promise<Completion> => {
    const { adapter, fake } = bench();
    fake.play(answering(rig.wire, played));
    const { text, value } = await adapter.complete(attemptAt(bench()));
    expect(JSON.parse(text)).toEqual(value);
    return JSON.parse(text) as Completion;
  };

  it.each(['Hello!', '', 'line\nbreak "quoted" \\ 你好😀é', '{"json": true}'])('with its text %j', async (text) => {
    const { choices, ...rest } = await completion(textReply(text));
    expect(choices).toMatchObject([{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }]);
    expect(rest).toMatchObject({
      id: expect.any(String),
      object: 'chat.completion',
      created: expect.any(Number),
      model: expect.any(String),
    });
  });

  it('with the call of a tool', async () => {
    const call = { kind: 'call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Zürich"}' } as const;
    const { choices } = await completion(reply([call]));
    expect(choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: {
          content: null,
          tool_calls: [{ type: 'function', function: { name: 'get_weather', arguments: '{"city":"Zürich"}' } }],
        },
      },
    ]);
  });

  it('with parallel calls beside a text, each with an id of its own', async () => {
    const { choices } = await completion(
      reply([
        { kind: 'text', text: 'I look.' },
        { kind: 'call', id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern"}' },
        { kind: 'call', id: 'call_2', name: 'get_weather', arguments: '{}' },
      ]),
    );
    const [choice] = choices;
    const calls = (choice?.message as { tool_calls: { id: string; function: { arguments: string } }[] }).tool_calls;
    expect(choice?.message).toMatchObject({ content: 'I look.' });
    expect(calls.map(({ function: { arguments: input } }) => input)).toEqual(['{"city":"Bern"}', '{}']);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  it('with what the model thought', async () => {
    const thought = reply([
      { kind: 'reasoning', text: 'The user greets.' },
      { kind: 'text', text: 'Hello!' },
    ]);
    expect((await completion(thought)).choices).toMatchObject([
      { message: { content: 'Hello!', reasoning_content: 'The user greets.' } },
    ]);
  });

  it.each(rig.stopReasons)('with %s as the finish reason %s', async (native, finish) => {
    const { choices } = await completion(textReply('x', { finish, native: { finish: native } }));
    expect(choices).toMatchObject([{ finish_reason: finish }]);
  });

  it.each(rig.usages.map((each) => [each.name, each] as const))(
    'with its usage and price to a millionth of a dollar: %s',
    async (_, { native, usage, prices, costUsd: cost }) => {
      const { usage: told } = await completion(textReply('x', { native: { usage: native } }));
      expect(told).toEqual(usage);
      const read = readUsage(told);
      if (read === undefined) throw new Error('no usage could be read');
      expect(costUsd(read, prices)).toBeCloseTo(cost, 9);
    },
  );

  it('without taking blanks that keep the connection alive for a part of it', async () => {
    const { adapter, fake } = bench();
    const whole = JSON.stringify(rig.wire.json(textReply('Hello!')));
    let seen = 0;
    let seenBefore: number | undefined;
    fake.play((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const blanks = setInterval(() => response.write('\r\n\n \t'), 5);
      setTimeout(() => {
        clearInterval(blanks);
        seenBefore = seen;
        response.end(whole);
      }, 60);
    });
    const { value } = await adapter.complete(attemptAt(bench(), {}, { progressed: () => (seen += 1) }));
    expect(value['choices']).toMatchObject([{ message: { content: 'Hello!' } }]);
    expect(seenBefore).toBe(0);
    expect(seen).toBeGreaterThan(0);
  });

  it.each([
    ['a page', '<html>ok</html>'],
    ['nothing', ''],
    ['an empty object', '{}'],
    ['half an answer', '{"id": "x", "choices": [{"in'],
    ['null', 'null'],
  ])('but takes %s for no answer', async (_, text) => {
    bench().fake.play(json(200, text));
    await expect(bench().adapter.complete(attemptAt(bench()))).rejects.toMatchObject({
      blame: 'upstream',
      code: 'upstream_error',
    });
  });
}
