import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConversationRig, told } from '../support/conversation-rig.js';
import { eventually } from '../support/eventually.js';
import { hanging } from '../support/scripted-generator.js';

let rig: ConversationRig;
beforeAll(async () => {
  rig = await ConversationRig.start();
});
afterAll(() => rig.close());

const create = (body: object = {}) => rig.ask('POST', '/v1/conversations', body);

describe('a conversation', () => {
  it('is made with what is given, under an id that nobody guesses', async () => {
    const given = { title: 'T', model: 'small', system: 'S', metadata: { a: 'b' } };
    const { status, body, headers } = await create(given);
    expect([status, body]).toMatchObject([200, { ...given, object: 'conversation', seq: 0 }]);
    expect([body['id'], headers.get('etag')]).toEqual([expect.stringMatching(/^conv_[0-9a-f]{32}$/), '"0-1"']);
    expect((await rig.ask('GET', `/v1/conversations/${String(body['id'])}`)).body).toEqual(body);
    expect((await create()).body).toMatchObject({ title: null, model: null, system: null, metadata: {} });
  });

  it('is made once under a chosen id', async () => {
    const first = await rig.ask('PUT', '/v1/conversations/user:42.a@b-c', { title: 'One' });
    const second = await rig.ask('PUT', '/v1/conversations/user:42.a@b-c', { title: 'Two' });
    expect([second.status, second.body]).toEqual([200, first.body]);
    for (const id of ['-x', '.x', 'a~1', 'ü', 'x'.repeat(129)]) {
      const refused = await rig.ask('PUT', `/v1/conversations/${encodeURIComponent(id)}`, {});
      expect([id, refused.status, refused.body]).toMatchObject([id, 400, { error: { param: 'id' } }]);
    }
  });

  it.each([
    [{ title: 5 }, 'title', 400],
    [{ title: 'x'.repeat(513) }, 'title', 400],
    [{ model: '' }, 'model', 400],
    [{ model: 'nope' }, 'model', 404],
    [{ system: {} }, 'system', 400],
    [{ metadata: [] }, 'metadata', 400],
    [{ metadata: { a: 1 } }, 'metadata', 400],
    [{ metadata: { ['k'.repeat(65)]: 'x' } }, 'metadata', 400],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${String(at)}`, 'x'])) }, 'metadata', 400],
  ])('refuses %j, naming %s', async (body, param, status) => {
    for (const answer of [await create(body), await rig.ask('PUT', '/v1/conversations/refused', body)])
      expect([answer.status, answer.body]).toMatchObject([status, { error: { param } }]);
    expect((await rig.ask('GET', '/v1/conversations/refused')).status).toBe(404);
  });

  it('is changed in what is given only, and a turn changes none of it (case 26)', async () => {
    const path = await rig.create({ title: 'T', system: 'S', metadata: { a: 'b' } });
    const renamed = await rig.ask('PATCH', path, { title: 'U' });
    expect(renamed.body).toMatchObject({ title: 'U', system: 'S', metadata: { a: 'b' } });
    await rig.turn(path, 'Hi');
    expect((await rig.ask('GET', path)).body).toMatchObject({ title: 'U', system: 'S', metadata: { a: 'b' }, seq: 2 });
    const bare = await rig.ask('PATCH', path, { title: null, system: null, metadata: null, model: null });
    expect(bare.body).toMatchObject({ title: null, system: null, metadata: {}, model: null });
  });

  it('is changed, cleared, deleted and asked only where it is as expected', async () => {
    const path = await rig.create();
    const etag = (await rig.ask('GET', path)).headers.get('etag') ?? '';
    await rig.turn(path, 'Hi');
    const verbs = [
      ['PATCH', path, { title: 'x' }],
      ['DELETE', `${path}/messages`],
      ['DELETE', path],
      ['POST', `${path}/turns`, { content: 'x' }],
    ] as const;
    for (const [method, where, body] of verbs) {
      const stale = await rig.ask(method, where, body, { headers: { 'if-match': etag } });
      expect([method, stale.status, stale.body]).toMatchObject([
        method,
        412,
        { error: { code: 'conversation_changed' } },
      ]);
      for (const wrong of ['2-1', 'W/"2-1"', '"x"', '"2-1", "3-1"', '""']) {
        const bad = await rig.ask(method, where, body, { headers: { 'if-match': wrong } });
        expect([method, wrong, bad.status, bad.body]).toMatchObject([
          method,
          wrong,
          400,
          { error: { param: 'If-Match' } },
        ]);
      }
    }
    expect(told(await rig.log(path))).toEqual(['user complete: Hi', 'assistant complete: you said: Hi']);
    const now = (await rig.ask('GET', path)).headers.get('etag') ?? '';
    expect((await rig.ask('PATCH', path, { title: 'x' }, { headers: { 'if-match': now } })).status).toBe(200);
    expect((await rig.turn(path, 'x', { headers: { 'if-match': '*' } })).status).toBe(200);
    expect((await rig.ask('DELETE', path, undefined, { headers: { 'if-match': '"4-2"' } })).body).toMatchObject({
      deleted: true,
    });
    expect((await rig.ask('GET', path)).status).toBe(404);
  });

  it('keeps its system prompt and its seq when it is cleared', async () => {
    const path = await rig.create({ system: 'S' });
    const { body } = await rig.turn(path, 'Hi');
    expect((await rig.ask('DELETE', `${path}/messages`)).body).toMatchObject({ system: 'S', seq: 2 });
    expect(await rig.log(path)).toEqual([]);
    expect((await rig.ask('GET', `${path}/turns/${String(body['id'])}`)).status).toBe(404);
    await rig.turn(path, 'Anew');
    expect(rig.generator.messages()).toEqual([
      { role: 'system', content: 'S' },
      { role: 'user', content: 'Anew' },
    ]);
    expect((await rig.log(path)).map(({ seq }) => seq)).toEqual([3, 4]);
  });

  it('is not cleared under a running turn, and ends one when it is deleted', async () => {
    const path = await rig.create();
    rig.generator.play(hanging('x'));
    const asked = rig.turn(path, 'Hi');
    await eventually(async () => (await rig.log(path)).length === 1);
    const cleared = await rig.ask('DELETE', `${path}/messages`);
    expect([cleared.status, cleared.body]).toMatchObject([409, { error: { code: 'turn_in_progress' } }]);
    expect((await rig.ask('DELETE', path)).status).toBe(200);
    expect((await asked).status).toBe(404);
    expect(rig.generator.calls.at(-1)?.abortedAt).toBeGreaterThan(0);
  });
});

describe('GET /v1/conversations', () => {
  it('pages through all of them once, the last used first, while they are used and deleted', async () => {
    const own = await ConversationRig.start();
    try {
      const paths: string[] = [];
      for (let at = 0; at < 7; at += 1) paths.push(await own.create({ title: String(at) }));
      await own.turn(paths[2] ?? '', 'Hi');
      const seen: string[] = [];
      let after = '';
      for (let more = true; more;) {
        const { body } = await own.ask('GET', `/v1/conversations?limit=2${after}`);
        const data = body['data'] as readonly { id: string; title: string }[];
        seen.push(...data.map(({ title }) => title));
        await own.ask('DELETE', `/v1/conversations/${data.at(-1)?.id ?? ''}`);
        after = `&after=${String(body['last_id'])}`;
        more = body['has_more'] === true;
      }
      expect(seen[0]).toBe('2');
      expect(seen.sort()).toEqual(['0', '1', '2', '3', '4', '5', '6']);
    } finally {
      await own.close();
    }
  });

  it('goes on after an id as well, and refuses what is none', async () => {
    const { body } = await create();
    expect((await rig.ask('GET', `/v1/conversations?after=${String(body['id'])}`)).status).toBe(200);
    for (const query of ['limit=0', 'limit=101', 'limit=x', 'after=~1', 'after=nobodys', 'before=x'])
      expect([query, (await rig.ask('GET', `/v1/conversations?${query}`)).status]).toEqual([query, 400]);
  });
});

describe('GET …/messages', () => {
  it('pages by seq or id, oldest first', async () => {
    const path = await rig.create();
    for (const content of ['a', 'b', 'c']) await rig.turn(path, content);
    const first = await rig.ask('GET', `${path}/messages?limit=4`);
    expect([first.body['has_more'], (first.body['data'] as readonly unknown[]).length]).toEqual([true, 4]);
    for (const after of ['4', String(first.body['last_id'])]) {
      const rest = await rig.ask('GET', `${path}/messages?limit=4&after=${after}`);
      expect(rest.body).toMatchObject({ has_more: false, data: [{ seq: 5, content: 'c' }, { seq: 6 }] });
    }
    const empty = await rig.ask('GET', `${path}/messages?after=6`);
    expect(empty.body).toEqual({ object: 'list', data: [], has_more: false, last_id: null });
    for (const query of ['limit=0', 'limit=1001', 'after=x', 'after=-1'])
      expect((await rig.ask('GET', `${path}/messages?${query}`)).status).toBe(400);
  });
});

describe('GET …/export', () => {
  it('is the conversation and all of its messages, line by line', async () => {
    const path = await rig.create({ title: 'T' });
    await rig.turn(path, 'Hi\nthere');
    const { status, text, headers } = await rig.ask('GET', `${path}/export`);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
    expect(lines).toEqual([(await rig.ask('GET', path)).body, ...(await rig.log(path))]);
  });
});
