import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Coordinator, startCoordinator } from '../support/coordinator.js';
import { exchange } from '../support/raw-http.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';

/** As JSON text: an object literal would set the prototype. */
const POISON =
  '"__proto__":{"polluted":true,"admin":true},"constructor":{"prototype":{"polluted":true}},"prototype":{"a":1}';

let upstream: ScriptedUpstream;
let coordinator: Coordinator;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
  coordinator = await startCoordinator({ upstreams: [upstream.url] });
});
afterAll(async () => {
  await coordinator.close();
  await upstream.close();
});

const shapes = (): readonly string[] =>
  [Object.prototype, Array.prototype, Function.prototype, String.prototype].map((prototype) =>
    Reflect.ownKeys(prototype).map(String).join(),
  );
const before = shapes();

/** The server runs in this process: what it does to its prototypes, it does to ours. */
afterEach(() => {
  expect(shapes()).toEqual(before);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  expect(Reflect.get({}, 'admin')).toBeUndefined();
});

async function send(method: string, path: string, text?: string): Promise<{ status: number; text: string }> {
  const init = text === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: text };
  const response = await fetch(`${coordinator.url}${path}`, { method, ...init });
  return { status: response.status, text: await response.text() };
}

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]';

describe('a body with members called like prototypes', () => {
  it('goes to the provider as it is, at any depth', async () => {
    const text = `{"model":"test-model",${MESSAGES},"extra":{"deep":[{${POISON}}]},${POISON}}`;
    expect((await send('POST', '/v1/chat/completions', text)).status).toBe(200);
    const sent = upstream.requests.at(-1)?.text ?? '';
    expect(sent).toContain(`"extra":{"deep":[{${POISON}}]},${POISON}`);
  });

  it.each([
    ['POST', '/v1/chat/completions?dryRun=true', `{"model":"test-model",${MESSAGES},${POISON}}`],
    [
      'POST',
      '/v1/chat/completions',
      `{"model":"test-model","messages":[{"role":"user","content":"hi",${POISON}}],"metadata":{${POISON}}}`,
    ],
    ['POST', '/v1/chat/completions/batch', `{"model":"test-model","requests":[{${MESSAGES},${POISON}}],${POISON}}`],
    ['PUT', '/v1/conversations/polluted', `{"title":"t","metadata":{"__proto__":"a","constructor":"b"},${POISON}}`],
    ['PATCH', '/v1/conversations/polluted', `{"metadata":{"__proto__":"a"},${POISON}}`],
    ['POST', '/v1/conversations/polluted/turns', `{"content":"hi","tools":[{"type":"function",${POISON}}],${POISON}}`],
    ['POST', '/v1/conversations/polluted/turns', `{"content":[{"type":"text","text":"hi",${POISON}}]}`],
    ['POST', '/v1/chat', `{"user_id":"__proto__","message":"hi",${POISON}}`],
    ['POST', '/v1/chat', `{"user_id":"constructor","message":"hi"}`],
    ['POST', '/v1/conversations', `[{${POISON}}]`],
    ['POST', '/v1/chat/completions', `{${POISON}}`],
  ])('changes nothing but itself: %s %s', async (method, path, text) => {
    const { status, text: answer } = await send(method, path, text);
    // This provider answers no streams.
    expect([200, 201, 400, 404, 422, 502]).toContain(status);
    expect(answer).not.toContain('"admin"');
  });
});

describe('a path or a query with such names', () => {
  it.each([
    ['GET', '/v1/models/__proto__', 404],
    ['GET', '/v1/models/constructor', 404],
    ['GET', '/v1/models/toString', 404],
    ['GET', '/v1/conversations/__proto__', 404],
    ['GET', '/v1/conversations/hasOwnProperty/turns/constructor', 404],
    ['GET', '/v1/locks/__proto__', 404],
    ['GET', '/v1/conversations?__proto__[polluted]=true', 400],
    ['GET', '/v1/conversations?__proto__.polluted=true', 400],
    ['GET', '/v1/conversations?constructor[prototype][polluted]=true', 400],
    ['GET', '/__proto__', 404],
    ['GET', '/constructor', 404],
  ])('finds nothing: %s %s', async (method, path, status) => {
    expect((await send(method, path)).status).toBe(status);
  });

  it('finds no model by them in a body', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect((await send('POST', '/v1/chat/completions', `{"model":"${name}",${MESSAGES}}`)).status).toBe(404);
  });
});

describe('headers with such names', () => {
  it('are headers like any other', async () => {
    const { port } = new URL(coordinator.url);
    const text = `GET /v1/models HTTP/1.1\r\nHost: localhost\r\n__proto__: polluted\r\nconstructor: a\r\nprototype: b\r\ntoString: c\r\nhasOwnProperty: d\r\nConnection: close\r\n\r\n`;
    expect((await exchange(Number(port), text)).status).toBe(200);
  });
});
