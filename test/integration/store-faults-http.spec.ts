import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Coordinator, startCoordinator } from '../support/coordinator.js';
import { eventually } from '../support/eventually.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';

const PREFIX = 'secret-shop:';

let server: RedisServer;
let coordinator: Coordinator;
beforeAll(async () => {
  server = await startRedisServer();
  const environment = {
    REDIS_URL: `redis://${server.host}:${String(server.port)}`,
    REDIS_KEY_PREFIX: PREFIX,
    // Nobody is listening there: no call of these tests goes to a provider.
    UPSTREAM: 'simulator',
  };
  coordinator = await startCoordinator({ upstreams: ['http://127.0.0.1:9/v1'], environment });
});
afterEach(() => {
  server.thaw();
});
afterAll(async () => {
  await coordinator.close();
  await server.stop();
});

const ask = (method: string, name: string): Promise<Response> =>
  fetch(`${coordinator.url}/v1/locks/${encodeURIComponent(name)}`, { method });

/** Nothing of ours: no key, prefix, setting, script, address or class. */
async function expectTellsNothing(response: Response, message: string): Promise<void> {
  const error = { message, type: 'api_error', param: null, code: 'store_unavailable' };
  expect([response.status, await response.json()]).toEqual([503, { error }]);
  const headers = Object.fromEntries(response.headers);
  expect(JSON.stringify(headers)).not.toMatch(/order|shop|REDIS|inspect|127\.0\.0\.1/);
}

const AGAIN = 'the store is not available now; try again later';
const FINAL = "the store can't do what this request needs until an operator has changed something";

async function expectSaysAgain(response: Response): Promise<void> {
  const { headers } = response;
  expect([headers.get('x-should-retry'), headers.get('retry-after'), headers.get('retry-after-ms')]).toEqual([
    ...['true', '1', '1000'],
  ]);
  await expectTellsNothing(response, AGAIN);
}

/** The line that the log has beside the request's own. */
function keptLines(): readonly Record<string, unknown>[] {
  return coordinator
    .logs()
    .split('\n')
    .filter((line) => line.includes('error kept from the caller'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a store that fails', () => {
  it('because a key of ours holds something else: the caller hears that it fails, the log what and where', async () => {
    const client = new Redis(server.port, server.host);
    await client.set(`${PREFIX}lk:{order:1}`, 'of somebody else');
    client.disconnect();
    const response = await ask('GET', 'order:1');
    // Nobody should try again on his own: somebody has to change something.
    const { headers } = response;
    expect([headers.get('x-should-retry'), headers.get('retry-after'), headers.get('retry-after-ms')]).toEqual([
      ...['false', null, null],
    ]);
    const id = headers.get('x-request-id');
    await expectTellsNothing(response, FINAL);
    await eventually(() => keptLines().some((line) => line['request_id'] === id));
    const line = keptLines().find((each) => each['request_id'] === id);
    expect(line).toMatchObject({ code: 'store_unavailable', err: { type: 'LockStoreError' } });
    expect(JSON.stringify(line)).toMatch(/WRONGTYPE.*REDIS_KEY_PREFIX|REDIS_KEY_PREFIX.*WRONGTYPE/s);
    expect(JSON.stringify(line)).toContain('secret-shop:lk:{order:1}');
  });

  it.each(['GET', 'DELETE'])('because it does not answer: %s', async (method) => {
    server.freeze();
    const response = await ask(method, 'order:2');
    await expectSaysAgain(response);
  });

  it('because it is down', async () => {
    await server.crash();
    const response = await ask('GET', 'order:3');
    const id = response.headers.get('x-request-id');
    await expectSaysAgain(response);
    await eventually(() => keptLines().some((line) => line['request_id'] === id));
    await server.restart();
    await eventually(async () => (await ask('GET', 'order:3')).status === 404);
  });
});

describe('the queries of operators', () => {
  it('refuses query parameters that there are not, and takes no lock by them', async () => {
    const queries = ['GET /v1/locks?limits=5', 'GET /v1/locks/order:9?x=1', 'DELETE /v1/locks/order:9?Token=mine'];
    for (const query of queries) {
      const [method = '', path = ''] = query.split(' ');
      const response = await fetch(`${coordinator.url}${path}`, { method });
      expect([response.status, await response.json()]).toMatchObject([400, { error: { code: 'invalid_request' } }]);
    }
  });
});

describe('the audit of admin acts', () => {
  it('is a line of the log with who took which lock, also where nobody knows whether it was taken', () => {
    const lines = coordinator
      .logs()
      .split('\n')
      .filter((line) => line.includes('"msg":"admin act"') && line.includes('"lock":"order:2"'));
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        level: 'warn',
        act: 'DELETE /v1/locks/:name',
        caller: 'anonymous',
        lock: 'order:2',
        mode: 'drain',
        revoked: 'unknown',
      }),
    ]);
  });
});
