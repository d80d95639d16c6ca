import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiError } from '../../src/http/index.js';
import { type Answer } from '../support/completion-rig.js';
import { ConversationRig } from '../support/conversation-rig.js';
import { eventually } from '../support/eventually.js';
import { OpenApiDocument } from '../support/openapi-document.js';
import { record } from '../support/schema.checker.js';
import { calling, failing, hanging } from '../support/scripted-generator.js';
import { EventReader } from '../support/turn-events.js';

/** The headers that have to be documented wherever they are sent. */
const OURS = /^(x-request-id|etag|retry-after.*|x-should-retry)$/;

let rig: ConversationRig;
let document: OpenApiDocument;
let path: string;
beforeAll(async () => {
  rig = await ConversationRig.start();
  document = await OpenApiDocument.of(rig.pod.url);
  path = await rig.create({ model: 'small', title: 'T', system: 'S', metadata: { a: 'b' } });
});
afterAll(() => rig.close());

/** The answer has a documented status, its body conforms, and its headers are documented. */
function expectDocumented(operationId: string, { status, headers, text, body }: Answer, expected = 200): void {
  expect([operationId, status, text]).toEqual([operationId, expected, expect.any(String)]);
  const response = document.response(document.operation(operationId), status);
  expect([operationId, status, response]).toEqual([operationId, status, expect.anything()]);
  const type = headers.get('content-type')?.split(';')[0];
  const media = document.media('', response ?? {}).find((candidate) => candidate.type === type);
  const value = type === 'application/json' ? body : text;
  expect([type, document.faults(media?.schema ?? { missing: type }, value)]).toEqual([type, []]);
  const documented = Object.keys(record(response?.['headers']));
  expect(documented).toEqual(expect.arrayContaining([...headers.keys()].filter((name) => OURS.test(name))));
}

const idOf = ({ body }: Answer): string => String(body['id']);

describe('conversations, against the OpenAPI document', () => {
  it('themselves', async () => {
    expectDocumented('createConversation', await rig.ask('POST', '/v1/conversations', {}));
    expectDocumented('createConversation', await rig.ask('POST', '/v1/conversations', { title: 5 }), 400);
    expectDocumented('createConversation', await rig.ask('POST', '/v1/conversations', { model: 'nope' }), 404);
    expectDocumented('chooseConversation', await rig.ask('PUT', '/v1/conversations/chosen', { title: 'T' }));
    expectDocumented('chooseConversation', await rig.ask('PUT', '/v1/conversations/-', {}), 400);
    expectDocumented('listConversations', await rig.ask('GET', '/v1/conversations'));
    expectDocumented('listConversations', await rig.ask('GET', '/v1/conversations?limit=0'), 400);
    expectDocumented('retrieveConversation', await rig.ask('GET', path));
    expectDocumented('retrieveConversation', await rig.ask('GET', '/v1/conversations/none'), 404);
    expectDocumented('changeConversation', await rig.ask('PATCH', path, { title: 'U' }));
    const stale = { headers: { 'if-match': '"9-9"' } };
    expectDocumented('changeConversation', await rig.ask('PATCH', path, { title: 'V' }, stale), 412);
    expectDocumented('deleteConversation', await rig.ask('DELETE', '/v1/conversations/chosen', undefined, stale), 412);
    expectDocumented('deleteConversation', await rig.ask('DELETE', '/v1/conversations/chosen'));
  });

  it('their turns, with content parts, calls of tools and their results', async () => {
    const first = await rig.turn(path, { content: [{ type: 'text', text: 'Hi' }] });
    expectDocumented('createTurn', first);
    rig.generator.play(calling('c1'));
    expectDocumented('createTurn', await rig.turn(path, 'Weather?'));
    const last = await rig.turn(path, { tool_results: [{ tool_call_id: 'c1', content: 'fine' }] });
    expectDocumented('createTurn', last);
    expectDocumented('retrieveTurn', await rig.ask('GET', `${path}/turns/${idOf(last)}`));
    expectDocumented('cancelTurn', await rig.ask('POST', `${path}/turns/${idOf(last)}/cancel`));
    expectDocumented('regenerateTurn', await rig.ask('POST', `${path}/turns/${idOf(last)}/regenerate`));
    expectDocumented('regenerateTurn', await rig.ask('POST', `${path}/turns/${idOf(first)}/regenerate`, {}), 409);
    expectDocumented('chat', await rig.ask('POST', '/v1/chat', { user_id: 'u', message: 'Hi' }));
  });

  it('their logs and windows', async () => {
    expectDocumented('listMessages', await rig.ask('GET', `${path}/messages`));
    expectDocumented('listMessages', await rig.ask('GET', `${path}/messages?after=x`), 400);
    expectDocumented('exportConversation', await rig.ask('GET', `${path}/export`));
    expectDocumented('previewWindow', await rig.ask('GET', `${path}/window`));
    expectDocumented('previewWindow', await rig.ask('GET', `${path}/window?model=nope`), 404);
  });

  it('turns as events', async () => {
    const live = await rig.send('POST', `${path}/turns`, { content: 'Hi', stream: true });
    const events = await EventReader.of(live).all();
    const [turn] = events;
    const schemas = { turn: 'TurnCard', delta: 'ChatCompletionChunk', done: 'TurnCard', error: 'Error' };
    for (const { name, data } of events) {
      const schema = `#/components/schemas/${schemas[name as keyof typeof schemas]}`;
      expect([name, document.faults({ $ref: schema }, data)]).toEqual([name, []]);
    }
    expectDocumented('readTurnEvents', await rig.ask('GET', `${path}/turns/${String(turn?.data['id'])}/events`));
    expectDocumented('readTurnEvents', await rig.ask('GET', `${path}/turns/turn_x_1/events`), 404);
    expectDocumented('createTurn', await rig.turn(path, { content: 'Hi', stream: true }));
  });

  it('refusals and failures of turns', async () => {
    expectDocumented('createTurn', await rig.turn(path, ' '), 400);
    expectDocumented('createTurn', await rig.turn('/v1/conversations/none', 'Hi'), 404);
    expectDocumented('createTurn', await rig.turn(path, 'Hi', { headers: { 'if-match': '"9-9"' } }), 412);
    expectDocumented('createTurn', await rig.turn(path, 'word '.repeat(2_000)), 413);
    expectDocumented(
      'createTurn',
      await rig.turn(path, '{"content":"x"}', { headers: { 'content-type': 'text/plain' } }),
      415,
    );
    const keyed = { headers: { 'idempotency-key': 'k' } };
    await rig.turn(path, 'Hi', keyed);
    expectDocumented('createTurn', await rig.turn(path, 'Ho', keyed), 422);
    for (const [code, status] of [
      ['rate_limit_exceeded', 429],
      ['upstream_error', 502],
      ['overloaded', 503],
      ['timeout', 504],
      ['internal_error', 500],
    ] as const) {
      rig.generator.play(failing(new ApiError(code, 'no')));
      expectDocumented('createTurn', await rig.turn(path, 'Hi'), status);
    }
  });

  it('a running turn, and what has to wait for it', async () => {
    rig.generator.play(hanging('x'));
    const running = rig.turn(path, 'Hi');
    await eventually(async () => (await rig.log(path)).at(-1)?.status === 'pending');
    const turn = (await rig.log(path)).at(-1)?.turn_id ?? '';
    expectDocumented('retrieveTurn', await rig.ask('GET', `${path}/turns/${turn}`));
    expectDocumented('listMessages', await rig.ask('GET', `${path}/messages`));
    expectDocumented('createTurn', await rig.turn(path, 'Ho'), 409);
    expectDocumented('clearMessages', await rig.ask('DELETE', `${path}/messages`), 409);
    expectDocumented('cancelTurn', await rig.ask('POST', `${path}/turns/${turn}/cancel`));
    expectDocumented('createTurn', await running);
    expectDocumented('clearMessages', await rig.ask('DELETE', `${path}/messages`));
  });

  it('request examples are accepted', async () => {
    for (const [operationId, ask] of Object.entries({
      createConversation: (body: unknown) => rig.ask('POST', '/v1/conversations', body),
      changeConversation: (body: unknown) => rig.ask('PATCH', path, body),
      createTurn: (body: unknown) => rig.ask('POST', `${path}/turns`, body),
      chat: (body: unknown) => rig.ask('POST', '/v1/chat', body),
    })) {
      const [media] = document.media(operationId, record(document.operation(operationId).value['requestBody']));
      expect(media?.examples.length).toBeGreaterThan(0);
      for (const example of media?.examples ?? []) {
        expect([operationId, document.faults(media?.schema, example)]).toEqual([operationId, []]);
        const { model, tool_results: results, ...body } = record(example);
        await eventually(async () => (await rig.log(path)).at(-1)?.status !== 'pending');
        if (results === undefined) expect([model, (await ask(body)).status]).toEqual([model, 200]);
      }
    }
  });
});

describe('the OpenAPI document of conversations', () => {
  const operations = () =>
    document.operations().filter(({ value }) => (value['tags'] as readonly string[]).includes('conversations'));

  it('has examples that conform, and one good answer for each operation', () => {
    for (const operation of operations()) {
      expect(operation.value['summary']).toMatch(/\w/);
      expect(document.responses(operation).filter(([status]) => status.startsWith('2'))).toHaveLength(1);
      for (const [status, response] of document.responses(operation)) {
        const where = `${operation.method} ${operation.path} ${status}`;
        for (const { type, schema, examples } of document.media(where, response)) {
          expect([where, type, examples.length > 0]).toEqual([where, type, true]);
          for (const example of examples) expect([where, document.faults(schema, example)]).toEqual([where, []]);
        }
      }
      const parameters = (operation.value['parameters'] ?? []) as readonly unknown[];
      const names = parameters
        .map((given) => document.follow(given))
        .map(({ in: place, name }) => `${String(place)} ${String(name)}`);
      expect([operation.path, names]).toEqual([operation.path, [...new Set(names)]]);
      for (const given of parameters) {
        const { name, description, schema, example } = document.follow(given);
        expect([operation.path, name, description]).toEqual([operation.path, name, expect.stringMatching(/\w/)]);
        expect([name, schema]).toEqual([name, expect.objectContaining({ type: expect.any(String) })]);
        if (example !== undefined) expect([name, document.faults(schema, example)]).toEqual([name, []]);
      }
    }
  });

  it('refers only to what is there', () => {
    for (const reference of document.references()) expect(document.resolve(reference)).not.toEqual({});
  });
});
