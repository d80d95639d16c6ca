import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConversationRig } from '../support/conversation-rig.js';
import { sized } from '../support/proof-scale.js';
import { calling, saying } from '../support/scripted-generator.js';

/** `small`: 1,000 tokens in all, 100 of them for the reply; 85 % of it for prompts. */
const BUDGET = 850;
/** One token each in o200k. */
const words = (count: number): string => 'word'.concat(' word'.repeat(count - 1));

let rig: ConversationRig;
let path: string;
beforeAll(async () => {
  rig = await ConversationRig.start();
  // The vocabulary is loaded with the first count.
  await rig.turn(await rig.create({ model: 'small' }), words(600));
});
afterAll(() => rig.close());
beforeEach(async () => {
  path = await rig.create({ model: 'small', system: 'Be brief.' });
});

const windowOf = async (query = '') => (await rig.ask('GET', `${path}/window${query}`)).body;

describe('a message that does not fit', () => {
  it('is refused with the numbers, and neither stored nor sent (case 8)', async () => {
    await rig.turn(path, 'Hello');
    const calls = rig.generator.calls.length;
    const before = (await rig.ask('GET', path)).headers.get('etag');
    const { fixed_tokens: fixedTokens } = await windowOf();
    // One token a word, and three for what is around a message.
    const most = BUDGET - Number(fixedTokens) - 3 - 1;
    const answer = await rig.turn(path, words(most + 1));
    expect([answer.status, answer.body]).toMatchObject([
      413,
      {
        error: {
          ...{
            code: 'context_window_exceeded',
            param: 'content',
            model: 'small',
            contextWindow: 1_000,
            reservedOutput: 100,
          },
          ...{
            budget: BUDGET,
            fixedTokens,
            messageTokens: BUDGET - Number(fixedTokens) + 1,
            overBy: 1,
            counting: 'exact',
          },
        },
      },
    ]);
    expect([(await rig.ask('GET', path)).headers.get('etag'), rig.generator.calls.length]).toEqual([before, calls]);
    const fits = await rig.turn(path, words(most));
    expect([fits.status, fits.body]).toMatchObject([
      200,
      { window: { tokens: BUDGET, messages: 1, droppedMessages: 2 } },
    ]);
  });

  it('is refused by 422 where the system prompt and the tools alone are too long (case 6: no room at all)', async () => {
    await rig.ask('PATCH', path, { system: words(900) });
    for (const body of [
      { content: 'x' },
      { content: 'x', model: 'small', tools: [{ type: 'function', function: { name: words(900) } }] },
    ]) {
      const answer = await rig.turn(path, body);
      expect([answer.status, answer.body]).toMatchObject([422, { error: { code: 'unprocessable', budget: BUDGET } }]);
    }
    expect((await rig.ask('GET', `${path}/window`)).status).toBe(422);
    expect(await rig.log(path)).toEqual([]);
    expect((await rig.turn(path, { content: 'x', model: 'wide' })).status).toBe(200);
  });

  it('reserves what the reply may take (case 10)', async () => {
    for (const [limit, reserved] of [
      [50, 50],
      [100, 100],
    ] as const) {
      const { reserved_output: output, window } = await windowOf(`?max_tokens=${String(limit)}`);
      expect([output, window]).toMatchObject([reserved, { budget: BUDGET }]);
    }
    expect(await windowOf('?model=wide')).toMatchObject({ context_window: 100_000, window: { budget: 85_000 } });
  });
});

describe('a conversation that outgrows its model', () => {
  it('keeps its system prompt and its log, begins with a user, and moves its head seldom (cases 5, 7, 29)', async () => {
    const turns = sized(60, 1_000);
    const heads = new Set<unknown>();
    for (let at = 0; at < turns; at += 1) {
      rig.generator.play(saying([words(20)]));
      const { status, body } = await rig.turn(path, `${String(at)} ${words(20)}`);
      const window = body['window'] as Readonly<Record<string, number>>;
      expect([at, status, Number(window['tokens']) <= BUDGET]).toEqual([at, 200, true]);
      const [system, first, ...rest] = rig.generator.messages();
      expect([system, first?.['role']]).toEqual([{ role: 'system', content: 'Be brief.' }, 'user']);
      expect([first, ...rest].at(-1)).toMatchObject({ role: 'user', content: `${String(at)} ${words(20)}` });
      expect(rest.length + 1).toBe(window['messages']);
      heads.add(window['firstSeq']);
    }
    // A window holds about 16 turns, and is emptied to 0.7 of it at once.
    expect(heads.size).toBeLessThan(turns / 3);
    const { text } = await rig.ask('GET', `${path}/export`);
    const log = text
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line) as { seq: number });
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 2 * turns }, (_, at) => at + 1));
  });

  it('is counted anew for another model, and finds back what fits there', async () => {
    for (let at = 0; at < 6; at += 1) {
      rig.generator.play(saying([words(100)]));
      await rig.turn(path, `${String(at)} ${words(100)}`);
    }
    const small = await rig.turn(path, 'small');
    expect(small.body).toMatchObject({ window: { droppedMessages: expect.any(Number) } });
    expect(rig.generator.messages().length).toBeLessThan(10);
    const wide = await rig.turn(path, { content: 'wide', model: 'wide' });
    expect(wide.body).toMatchObject({ window: { firstSeq: 1, droppedMessages: 0 } });
    expect(rig.generator.messages()).toHaveLength(1 + 15);
  });

  it('lets calls and their results leave together (case 1)', async () => {
    rig.generator.play(calling('c1'));
    await rig.turn(path, words(300));
    await rig.turn(path, { tool_results: [{ tool_call_id: 'c1', content: words(300) }] });
    await rig.turn(path, words(300));
    expect(rig.generator.messages().map(({ role }) => role)).toEqual(['system', 'user']);
  });
});

describe('GET …/window', () => {
  it('tells what would be sent, what not and why, and what it costs', async () => {
    const { body: turn } = await rig.turn(path, 'one');
    await rig.ask('POST', `${path}/turns/${String(turn['id'])}/regenerate`, {});
    rig.generator.play(saying([]));
    await rig.turn(path, 'nothing comes');
    const preview = await windowOf();
    const {
      window,
      sent,
      cost_usd: cost,
    } = preview as { window: { tokens: number }; sent: { tokens: number }[]; cost_usd: number };
    expect(preview).toMatchObject({
      ...{ object: 'conversation.window', model: 'small', context_window: 1_000, reserved_output: 100 },
      sent: [
        { seq: 3, role: 'user' },
        { seq: 4, role: 'assistant' },
      ],
      left_out: [
        { first_seq: 1, last_seq: 2, reason: 'superseded' },
        { first_seq: 5, last_seq: 6, reason: 'failed' },
      ],
      window: { firstSeq: 3, lastSeq: 4, messages: 2, droppedMessages: 4, counting: 'exact' },
    });
    const tokens = sent.reduce((sum, card) => sum + card.tokens, Number(preview['fixed_tokens']));
    expect([tokens, cost]).toEqual([window.tokens, window.tokens / 1e6]);
    const calls = rig.generator.calls.length;
    await rig.turn(path, { content: words(700) });
    expect((await windowOf())['left_out']).toMatchObject([
      { first_seq: 1, last_seq: 2, reason: 'superseded' },
      { first_seq: 3, last_seq: 4, reason: 'over_budget' },
      { first_seq: 5, last_seq: 6, reason: 'failed' },
      { first_seq: 7, last_seq: 8, reason: 'over_budget' },
    ]);
    expect(rig.generator.calls).toHaveLength(calls + 1);
  });

  it('has an answer to an empty conversation (case 6)', async () => {
    expect(await windowOf()).toMatchObject({ sent: [], left_out: [], window: { firstSeq: null, messages: 0 } });
    for (const query of ['?max_tokens=0', '?max_tokens=x', '?max_tokens=101', '?model=', '?n=1'])
      expect((await rig.ask('GET', `${path}/window${query}`)).status).toBe(400);
    expect((await rig.ask('GET', `${path}/window?model=nope`)).status).toBe(404);
  });
});
