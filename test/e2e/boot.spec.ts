import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { writeConfig } from '../support/config-file.js';
import { sized } from '../support/proof-scale.js';
import { type SpawnedServer, runServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

describe('a first start', () => {
  let server: SpawnedServer | undefined;
  afterEach(async () => {
    await server?.kill();
  });

  it('with nothing configured answers from the built-in simulator, and says so', async () => {
    server = await spawnServer();
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
    for (const words of ['no provider has a key', 'no Redis is configured', 'no callers are configured']) {
      expect(server.logs()).toContain(words);
    }
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gemini-2.5-flash', messages: [{ role: 'user', content: 'echo: Grüezi' }] }),
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Grüezi' } }] });
    expect(response.headers.get('x-coordinator-provider')).toBe('simulator');
    // What names it where it holds a lock is in its log, and in its status.
    const status = (await (await fetch(`${server.url}/v1/status`)).json()) as { pod: { process: string } };
    expect(server.logs()).toContain(`"process":"${status.pod.process}"`);
    for (const path of ['/health', '/ready', '/metrics', '/docs', '/v1/models']) {
      expect([path, (await fetch(server.url + path)).status]).toEqual([path, 200]);
    }
  });

  it('in production takes its decisions in words: STORE=memory, UPSTREAM=simulator', async () => {
    server = await spawnServer({
      environment: {
        NODE_ENV: 'production',
        STORE: 'memory',
        UPSTREAM: 'simulator',
        CALLER_KEYS: 'app:pro:0123456789abcdef0123',
        HOST: '0.0.0.0',
      },
    });
    const models = `http://127.0.0.1:${new URL(server.url).port}/v1/models`;
    expect((await fetch(models)).status).toBe(401);
    const headers = { authorization: 'Bearer 0123456789abcdef0123' };
    expect((await fetch(models, { headers })).status).toBe(200);
  });
});

describe('a start that can’t be', () => {
  /** What standard error says, a fault a line. */
  const faultsOf = async (environment: Record<string, string>): Promise<string[]> => {
    const { code, errors } = await runServer(environment);
    expect(code).toBe(1);
    const [title = '', ...faults] = errors.trimEnd().split('\n');
    expect(title).toMatch(/^the configuration has (a fault|\d+ faults):$/);
    return faults.map((fault) => fault.replace(/^ {2}- /, ''));
  };

  it('in production without store, upstream and callers tells all of it at once', async () => {
    const faults = await faultsOf({ NODE_ENV: 'production', HOST: '0.0.0.0' });
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(['STORE', 'UPSTREAM', 'HOST']);
    expect(faults[0]).toContain('REDIS_URL');
    expect(faults[1]).toContain('HOLYSHEEP_API_KEY');
    expect(faults[2]).toContain('CALLER_KEYS');
  });

  it('tells every fault of the environment and of the file at once, by its path, and no secret', async () => {
    const config = await writeConfig({
      providers: [{ name: 'p', kind: 'openai', baseUrl: 'ftp://x', keyVariable: 'P_KEY' }],
      models: [{ name: 'm', created: 1, contextWindow: -5, maxOutputTokens: 10, fallback: [], deployments: [] }],
      tiers: { free: [], pro: [], enterprise: ['nobody'] },
    });
    const faults = await faultsOf({
      CONFIG_FILE: config.path,
      PORT: '99999',
      LOG_LEVEL: 'loud',
      CALLER_KEYS: 'secret-key-without-a-name',
    });
    await config.remove();
    const paths = ['PORT', 'LOG_LEVEL', 'CALLER_KEYS[0]', 'providers[0].baseUrl', 'models[0].contextWindow'];
    for (const path of paths) expect(faults.filter((fault) => fault.startsWith(`${path}:`))).toHaveLength(1);
    expect(faults.find((fault) => fault.startsWith('models[0].fallback:'))).toContain('did you mean fallbacks?');
    expect(faults.join()).not.toContain('secret-key');
  });

  it('without the file that CONFIG_FILE names', async () => {
    expect(await faultsOf({ CONFIG_FILE: '/no/such/file.yaml' })).toEqual([
      expect.stringMatching(/^CONFIG_FILE: .*\/no\/such\/file\.yaml/),
    ]);
  });

  it('on a taken port says which, in one line', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const { code, errors } = await runServer({ PORT: port });
    taken.close();
    expect(code).toBe(1);
    expect(errors).toBe(
      `listen EADDRINUSE: address already in use 127.0.0.1:${port}; HOST, PORT and METRICS_PORT say where to listen\n`,
    );
  });
});
