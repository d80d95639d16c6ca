import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ConversationRig } from '../support/conversation-rig.js';

let rig: ConversationRig;
let path: string;
beforeAll(async () => {
  rig = await ConversationRig.start();
});
afterAll(() => rig.close());
beforeEach(async () => {
  path = await rig.create();
});

const refusedFor = (param: string): object => ({
  ...{ status: 400, body: { error: { code: 'invalid_request', param } } },
});

describe('the body of a turn', () => {
  it('passes on what is called like a member of every object, at any depth', async () => {
    const named =
      '{"constructor":{"type":"string"},"toString":1,"valueOf":[],"hasOwnProperty":{},"prototype":"p","__proto__":{"x":1}}';
    const part = `{"type":"text","text":"Hi","meta":${named}}`;
    const tools = `[{"type":"function","function":{"name":"f","parameters":{"properties":${named}}}}]`;
    const { status } = await rig.ask(
      'POST',
      `${path}/turns`,
      `{"content":[${part}],"tools":${tools},"constructor":"c"}`,
    );
    const body = JSON.stringify(rig.generator.calls.at(-1)?.request.body);
    expect([status, body]).toEqual([200, expect.stringContaining(`"tools":${tools}`)]);
    expect(body).toContain(`"constructor":"c"`);
    expect(body).toContain(`"content":[${part}]`);
    const { text: log } = await rig.ask('GET', `${path}/messages`);
    expect(log).toContain(part);
  });

  it.each(['messages', 'models', 'system', 'role', 'cache', 'stream_options'])(
    'may not hold %s, which a turn sets itself, and stores nothing then',
    async (name) => {
      const { body } = await rig.turn(path, 'Hi');
      const calls = rig.generator.calls.length;
      const more = { [name]: ['y'] };
      expect(await rig.turn(path, { content: 'x', ...more })).toMatchObject(refusedFor(name));
      expect(await rig.ask('POST', '/v1/chat', { user_id: 'a', message: 'x', ...more })).toMatchObject(
        refusedFor(name),
      );
      const again = `${path}/turns/${String(body['id'])}/regenerate`;
      expect(await rig.ask('POST', again, more)).toMatchObject(refusedFor(name));
      expect([(await rig.log(path)).length, rig.generator.calls.length]).toEqual([2, calls]);
    },
  );
});

describe('the body of a turn, of its repetition and of a user’s chat', () => {
  it.each([
    ['"Model":"dearer"', 'Model'],
    ['"MESSAGES":[]', 'MESSAGES'],
    ['"\\u017fystem":"S"', 'ſystem'],
    ['"max_tokens":30000,"max_tokens":2', 'max_tokens'],
    ['"n":100,"\\u006e":1', 'n'],
  ])('may not hold %s, which a provider may read as something else, and stores nothing then', async (more, param) => {
    const { body } = await rig.turn(path, 'Hi');
    const calls = rig.generator.calls.length;
    for (const [at, text] of [
      [`${path}/turns`, `{"content":"x",${more}}`],
      [`${path}/turns/${String(body['id'])}/regenerate`, `{${more}}`],
      ['/v1/chat', `{"user_id":"a","message":"x",${more}}`],
    ] as const)
      expect(await rig.ask('POST', at, text)).toMatchObject(refusedFor(param));
    expect([(await rig.log(path)).length, rig.generator.calls.length]).toEqual([2, calls]);
  });
});

describe('the body of a conversation', () => {
  it.each([
    [{ systme: 'S' }, 'systme'],
    [JSON.parse('{"constructor":"S"}') as object, 'constructor'],
    [JSON.parse('{"__proto__":{"title":"S"}}') as object, '__proto__'],
    [{ system: 'x'.repeat(1_000_001) }, 'system'],
    [{ metadata: { a: 'b\ud800' } }, 'metadata'],
    [{ metadata: { 'a\udc00': 'b' } }, 'metadata'],
    [JSON.parse('{"metadata":{"constructor":{}}}') as object, 'metadata'],
  ])('is refused where it holds %j', async (body, param) => {
    for (const [method, at] of [
      ['POST', '/v1/conversations'],
      ['PUT', '/v1/conversations/members'],
      ['PATCH', path],
    ] as const)
      expect(await rig.ask(method, at, body)).toMatchObject(refusedFor(param));
  });

  it('may be as long as its bounds, and keeps metadata of any name', async () => {
    const metadata = { constructor: 'a', toString: 'b', 'a 😀': '😀' };
    const given = { system: 'x'.repeat(1_000_000), metadata };
    expect((await rig.ask('PATCH', path, given)).body).toMatchObject(given);
    expect((await rig.ask('GET', path)).body).toMatchObject({ metadata });
  });
});

it('takes no name of a user with half of a surrogate pair', async () => {
  const body = { user_id: 'a\ud800', message: 'x' };
  expect(await rig.ask('POST', '/v1/chat', body)).toMatchObject(refusedFor('user_id'));
});
