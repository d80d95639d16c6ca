import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ApiError } from '../../src/http/index.js';
import { ConversationRig } from '../support/conversation-rig.js';
import { calling, failing, saying } from '../support/scripted-generator.js';

let rig: ConversationRig;
let path: string;
beforeAll(async () => {
  rig = await ConversationRig.start();
});
afterAll(() => rig.close());
beforeEach(async () => {
  path = await rig.create();
});

describe('tools', () => {
  const results = (...ids: readonly string[]) => ({
    tool_results: ids.map((id) => ({ tool_call_id: id, content: `result of ${id}` })),
  });

  it('are called and answered in the next turn, all of them together (case 2)', async () => {
    rig.generator.play(calling('a', 'b', 'c'));
    const called = await rig.turn(path, 'Weather?');
    const call = (id: string) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    });
    expect(called.body).toMatchObject({
      status: 'complete',
      assistant: { content: null, finish_reason: 'tool_calls', tool_calls: ['a', 'b', 'c'].map(call) },
    });
    const answered = await rig.turn(path, results('c', 'a', 'b'));
    expect(answered.body).toMatchObject({
      status: 'complete',
      user: null,
      tool_results: [{ tool_call_id: 'c' }, {}, {}],
    });
    expect(rig.generator.messages()).toEqual([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: ['a', 'b', 'c'].map(call) },
      ...['c', 'a', 'b'].map((id) => ({ role: 'tool', content: `result of ${id}`, tool_call_id: id })),
    ]);
  });

  it('refuses results that are not those of the last calls', async () => {
    rig.generator.play(calling('a', 'b'));
    await rig.turn(path, 'Weather?');
    for (const [body, param] of [
      [results('a'), 'tool_results'],
      [results('a', 'b', 'x'), 'tool_results[2].tool_call_id'],
      [results('a', 'b', 'b'), 'tool_results[2].tool_call_id'],
    ] as const) {
      expect((await rig.turn(path, body)).body).toMatchObject({ error: { code: 'invalid_request', param } });
    }
    expect(await rig.log(path)).toHaveLength(2);
  });

  it('sends calls without results to nobody (case 3)', async () => {
    rig.generator.play(calling('a'));
    await rig.turn(path, 'Weather?');
    await rig.turn(path, 'Never mind');
    expect(rig.generator.messages().map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('answers again after a turn with results failed', async () => {
    rig.generator.play(calling('a'), failing(new ApiError('overloaded', 'no')));
    await rig.turn(path, 'Weather?');
    expect((await rig.turn(path, results('a'))).status).toBe(503);
    expect((await rig.turn(path, results('a'))).status).toBe(200);
    expect(rig.generator.messages().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });
});

describe('POST …/regenerate', () => {
  it('answers the last turn again in its place, with what it was asked with', async () => {
    await rig.turn(path, 'First');
    const turn = await rig.turn(path, { content: 'Second', temperature: 0.1 });
    rig.generator.play(saying(['better']));
    const again = await rig.ask('POST', `${path}/turns/${String(turn.body['id'])}/regenerate`, { seed: 1 });
    expect(again.body).toMatchObject({
      status: 'complete',
      user: { content: 'Second' },
      assistant: { content: 'better' },
    });
    expect(rig.generator.calls.at(-1)?.request.body).toMatchObject({ temperature: 0.1, seed: 1 });
    const before = ['First', 'you said: First', 'Second'];
    expect(rig.generator.messages().map(({ content }) => content)).toEqual(before);
    expect((await rig.log(path)).map(({ superseded }) => superseded)).toEqual([false, false, true, true, false, false]);
    await rig.turn(path, 'Third');
    expect(rig.generator.messages().map(({ content }) => content)).toEqual([...before, 'better', 'Third']);
  });

  it('goes on until one pleases, and leaves all the others out', async () => {
    let { body } = await rig.turn(path, 'Hi');
    for (const wish of ['one', 'two', 'three']) {
      rig.generator.play(saying([wish]));
      ({ body } = await rig.ask('POST', `${path}/turns/${String(body['id'])}/regenerate`, {}));
      expect(rig.generator.messages()).toEqual([{ role: 'user', content: 'Hi' }]);
    }
    await rig.turn(path, 'Next');
    expect(rig.generator.messages().map(({ content }) => content)).toEqual(['Hi', 'three', 'Next']);
  });

  it('answers a turn that failed', async () => {
    rig.generator.play(failing(new ApiError('overloaded', 'no')));
    await rig.turn(path, 'Hi');
    const [failed] = await rig.log(path);
    const again = await rig.ask('POST', `${path}/turns/${failed?.turn_id ?? ''}/regenerate`, {});
    expect(again.body).toMatchObject({ status: 'complete', assistant: { content: 'you said: Hi' } });
  });

  it('is refused for an earlier turn, and for none', async () => {
    const first = await rig.turn(path, 'First');
    await rig.turn(path, 'Second');
    const calls = rig.generator.calls.length;
    const early = await rig.ask('POST', `${path}/turns/${String(first.body['id'])}/regenerate`, {});
    expect([early.status, early.body]).toMatchObject([409, { error: { code: 'conflict' } }]);
    expect((await rig.ask('POST', `${path}/turns/turn_x_1/regenerate`, {})).status).toBe(404);
    expect([rig.generator.calls.length, (await rig.log(path)).length]).toEqual([calls, 4]);
  });
});
