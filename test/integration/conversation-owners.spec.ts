import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConversationRig } from '../support/conversation-rig.js';
import { OpenApiDocument } from '../support/openapi-document.js';

/** Each operation on one conversation, with a body that would do. `chat` and `createConversation` have no conversation to reach. */
const OPERATIONS: Readonly<Record<string, readonly [method: string, path: string, body?: object]>> = {
  retrieveConversation: ['GET', ''],
  changeConversation: ['PATCH', '', { title: 'mine now' }],
  deleteConversation: ['DELETE', ''],
  listMessages: ['GET', '/messages'],
  clearMessages: ['DELETE', '/messages'],
  exportConversation: ['GET', '/export'],
  previewWindow: ['GET', '/window'],
  createTurn: ['POST', '/turns', { content: 'Hi' }],
  retrieveTurn: ['GET', '/turns/{turn}'],
  readTurnEvents: ['GET', '/turns/{turn}/events'],
  cancelTurn: ['POST', '/turns/{turn}/cancel'],
  regenerateTurn: ['POST', '/turns/{turn}/regenerate', {}],
};
/** They never reach one of somebody else: ids and lists are each caller's own. */
const OWN_ONLY = ['createConversation', 'chooseConversation', 'listConversations', 'chat'];

let rig: ConversationRig;
let path: string;
let turn: string;
beforeAll(async () => {
  rig = await ConversationRig.start();
  await rig.ask('PUT', '/v1/conversations/mine', { title: 'Mine', system: 'S' });
  path = '/v1/conversations/mine';
  turn = String((await rig.turn(path, 'Hello')).body['id']);
});
afterAll(() => rig.close());

const all = async () => [
  (await rig.ask('GET', path)).body,
  await rig.log(path),
  (await rig.ask('GET', `${path}/turns/${turn}`)).body,
];

describe('conversations of somebody else (case 27)', () => {
  it('are all looked at here', async () => {
    const document = await OpenApiDocument.of(rig.pod.url);
    const ids = document
      .operations()
      .filter(({ value }) => (value['tags'] as readonly string[]).includes('conversations'))
      .map(({ value }) => String(value['operationId']));
    expect(ids.sort()).toEqual([...Object.keys(OPERATIONS), ...OWN_ONLY].sort());
  });

  it.each(Object.entries(OPERATIONS))('%s finds nothing, and changes nothing', async (_, [method, tail, body]) => {
    const before = [await all(), rig.generator.calls.length];
    for (const headers of [{}, { 'if-match': '"2-1"' }, { 'idempotency-key': 'k', 'last-event-id': '1' }]) {
      const answer = await rig.ask(method, path + tail.replace('{turn}', turn), body, { caller: 'other', headers });
      expect([answer.status, answer.body]).toMatchObject([404, { error: { code: 'not_found' } }]);
      expect(answer.headers.get('etag')).toBeNull();
    }
    expect([await all(), rig.generator.calls.length]).toEqual(before);
  });

  it.each(Object.entries(OPERATIONS))(
    '%s knows no id that nobody chose, and none that can’t be one',
    async (_, row) => {
      const [method, tail, body] = row;
      for (const id of ['nobodys', 'a b', '%00', 'x'.repeat(129), 'ü', '__proto__', '..%2fmine']) {
        const place = `/v1/conversations/${encodeURIComponent(decodeURIComponent(id))}`;
        const { status } = await rig.ask(method, place + tail.replace('{turn}', turn), body);
        expect([id, status]).toEqual([id, 404]);
      }
    },
  );

  it('may have the same id: they are two', async () => {
    const theirs = await rig.ask('PUT', path, { title: 'Theirs' }, { caller: 'other' });
    expect(theirs.body).toMatchObject({ id: 'mine', title: 'Theirs', seq: 0 });
    expect((await rig.ask('GET', path)).body).toMatchObject({ title: 'Mine', seq: 2 });
    const listed = await rig.ask('GET', '/v1/conversations', undefined, { caller: 'other' });
    expect(listed.body['data']).toMatchObject([{ id: 'mine', title: 'Theirs' }]);
    expect((await rig.ask('GET', `${path}/turns/${turn}`, undefined, { caller: 'other' })).status).toBe(404);
  });

  it('wants a key', async () => {
    const answer = await rig.ask('GET', path, undefined, { headers: { authorization: 'Bearer nobody' } });
    expect(answer.status).toBe(401);
  });
});
