import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { eventually } from '../support/eventually.js';
import { ROOT } from '../support/planted-project.js';
import { sized } from '../support/proof-scale.js';
import { parseAnswer, RawConnection } from '../support/raw-http.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { environmentFor, launchServer, type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

const BODY = JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'echo: whole' }] });
const HEAD = [
  'POST /v1/chat/completions HTTP/1.1',
  'Host: localhost',
  'Content-Type: application/json',
  `Content-Length: ${String(BODY.length)}`,
  '',
  '',
].join('\r\n');

describe('a signal during the boot', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedisServer();
  });
  afterAll(() => redis.stop());

  const tellSignals = ['--import', `${ROOT}test/support/tell-signals.mjs`];

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s before the server is even loaded: it ends with 0 and never listens',
    async (signal) => {
      const server = launchServer({ nodeOptions: tellSignals });
      await once(server.process, 'message');
      expect(server.logs()).toBe('');
      server.process.kill(signal);
      expect(await server.ended).toMatchObject({ code: 0, signal: null, errors: '' });
      expect(server.logs()).not.toContain('"msg":"listening"');
      expect(server.logs()).toContain('"msg":"stopped"');
    },
  );

  it('while it connects to its store: the same, and a second one ends it at once', async () => {
    const environment = { REDIS_URL: `redis://${redis.host}:${String(redis.port)}` };
    redis.freeze();
    const server = launchServer({ environment });
    await eventually(() => server.logs().includes('no provider has a key'));
    server.process.kill('SIGTERM');
    // An echo of the first, until a tenth of a second is over.
    await new Promise((resolve) => setTimeout(resolve, 150));
    server.process.kill('SIGTERM');
    const { code, signal, errors } = await server.ended;
    redis.thaw();
    expect([code === 143 || code === 0, signal, errors]).toEqual([true, null, '']);
    expect(server.logs()).not.toContain('"msg":"listening"');
  });
});

describe('connections when a pod goes', () => {
  let upstream: TestSimulator;
  let server: SpawnedServer;
  let connections: RawConnection[] = [];

  beforeAll(async () => {
    upstream = await startTestSimulator();
  });
  afterEach(async () => {
    for (const connection of connections) connection.destroy();
    connections = [];
    await server.kill();
  });
  afterAll(() => upstream.close());

  const start = async (environment: Record<string, string> = {}): Promise<void> => {
    server = await spawnServer({ environment: { ...environmentFor(upstream.url), ...environment } });
  };
  const open = async (text: string): Promise<RawConnection> => {
    const connection = await RawConnection.open(Number(new URL(server.url).port));
    connection.write(text);
    connections.push(connection);
    return connection;
  };
  /** One whose first request is answered, and which stays open. */
  const openIdle = async (): Promise<RawConnection> => {
    const connection = await open('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await connection.until(/\{"status":"ok"\}/);
    return connection;
  };

  it('go on while they are in use, and each is told its end', async () => {
    await start({ DRAIN_DELAY_MS: '1500', SHUTDOWN_GRACE_MS: '30000' });
    const [used, idle, half] = [await openIdle(), await openIdle(), await open(HEAD + BODY.slice(0, 20))];
    server.process.kill('SIGTERM');
    await eventually(async () => (await fetch(`${server.url}/ready`)).status === 503);
    // New requests are taken during the delay.
    used.write(HEAD + BODY);
    const text = await used.closed();
    const answer = parseAnswer(text.slice(text.lastIndexOf('HTTP/1.1')));
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(answer.body).toContain('"whole"');
    // One that has begun is taken for as long as the grace lasts.
    await eventually(async () => (await fetch(`${server.url}/v1/models`)).status === 503);
    // The idle one is closed then, and not reset, so that its next request goes to another pod.
    expect(parseAnswer(await idle.closed()).body).toBe('{"status":"ok"}');
    half.write(BODY.slice(20));
    const late = parseAnswer(await half.closed());
    expect(late).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(late.body).toContain('"whole"');
    expect(await server.ended).toMatchObject({ code: 0, signal: null, errors: '' });
    expect([used, half, idle].flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('that stall keep nobody, and whoever said enough to be understood is told', async () => {
    await start({ SHUTDOWN_GRACE_MS: '500' });
    const before = (await upstream.stats()).requests.total;
    const [body, head, late] = [
      await open(HEAD + BODY.slice(0, 20)),
      await open(HEAD.slice(0, 60)),
      await open(HEAD.slice(0, 60)),
    ];
    await openIdle();
    server.process.kill('SIGTERM');
    await eventually(() => server.logs().includes('"msg":"shutting down"'));
    late.write(HEAD.slice(60) + BODY);
    expect(await server.ended).toMatchObject({ code: 0, signal: null, errors: '' });
    for (const connection of [body, late]) {
      expect(parseAnswer(await connection.closed())).toMatchObject({ status: 503, headers: { connection: 'close' } });
      expect(connection.received).toContain('"code":"draining"');
    }
    expect(await head.closed()).toBe('');
    expect([body, head, late].flatMap(({ errors }) => errors)).toEqual([]);
    expect((await upstream.stats()).requests.total).toBe(before);
  });
});
