import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import OpenAI from 'openai';
import { sized } from '../support/proof-scale.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { environmentFor, signalTwice, type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

/** What a test asks while a server drains it asks within this, also where the machine has other things to do. */
const STALL_MS = 4_000;
const text = 'one two three four five six seven eight nine ten';

/** A stream that a client reads, and how it ended. */
interface Reading {
  readonly begun: Promise<void>;
  readonly ended: Promise<{ readonly text: string; readonly finish: string | undefined; readonly error: unknown }>;
}

describe.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('on %s', (signal, exitCode) => {
  let upstream: TestSimulator;

  beforeAll(async () => {
    upstream = await startTestSimulator();
  });
  afterAll(() => upstream.close());

  const boot = (more: Record<string, string> = {}): Promise<SpawnedServer> =>
    spawnServer({ environment: { ...environmentFor(upstream.url), ...more } });

  /** A stream that stalls after its first words, for so long. */
  const read = async (server: SpawnedServer, stallMs: number): Promise<Reading> => {
    await upstream.reset();
    await upstream.script({ text, stallAfterFrames: 4, stallMs });
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-any', maxRetries: 0 });
    return readStream(client);
  };

  const ask = (server: SpawnedServer): Promise<Response> =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hi' }] }),
    });

  it('an open stream is finished, new requests are refused, and the process ends with 0', async () => {
    const server = await boot();
    const reading = await read(server, STALL_MS);
    await reading.begun;
    server.process.kill(signal);
    await refusing(server);

    const refused = await ask(server);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('x-should-retry')).toBe('true');
    expect(await refused.json()).toMatchObject({ error: { type: 'overloaded_error', code: 'draining' } });
    const ready = await fetch(`${server.url}/ready`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ details: { process: { status: 'down', phase: 'draining' } } });
    expect((await fetch(`${server.url}/health`)).status).toBe(200);

    expect(await reading.ended).toEqual({ text, finish: 'stop', error: undefined });
    expect(await server.ended).toMatchObject({ code: 0, signal: null, errors: '' });
    expect(server.logs()).toContain('"msg":"stopped"');
  });

  it('new requests are still taken during the drain delay, while /ready says 503', async () => {
    const server = await boot({ DRAIN_DELAY_MS: String(STALL_MS) });
    server.process.kill(signal);
    await unready(server);
    expect((await ask(server)).status).toBe(200);
    await refusing(server, false);
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
  });

  it('a stream that outlives the grace ends with an error frame, its provider is let go, and the process ends with 0', async () => {
    const server = await boot({ SHUTDOWN_GRACE_MS: '200' });
    const reading = await read(server, 60_000);
    await reading.begun;
    server.process.kill(signal);
    const { error, finish, text: received } = await reading.ended;
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ code: 'draining', type: 'overloaded_error' });
    expect(finish).toBeUndefined();
    expect(text.startsWith(received) && received.length > 0).toBe(true);
    await upstream.statsWhen(({ abortedByClient, inFlight }) => abortedByClient === 1 && inFlight === 0);
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
    expect(server.logs()).toContain('"aborted":1');
  });

  it(`a second one ends it at once, with ${String(exitCode)}`, async () => {
    const server = await boot();
    const reading = await read(server, 60_000);
    await reading.begun;
    await signalTwice(server, signal);
    expect(await server.ended).toMatchObject({ code: exitCode, signal: null });
    expect((await reading.ended).error).toMatchObject({ message: expect.any(String) });
  });

  it('an idle server ends with 0, and leaves nothing on standard error', async () => {
    const server = await boot();
    server.process.kill(signal);
    expect(await server.ended).toMatchObject({ code: 0, signal: null, errors: '' });
  });
});

describe('on SIGKILL', () => {
  it('a client that waits for its answer gets a connection error', async () => {
    const upstream = await startTestSimulator();
    const server = await spawnServer({ environment: environmentFor(upstream.url) });
    await upstream.script({ neverAnswer: true });
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-any', maxRetries: 0 });
    const pending = client.chat.completions
      .create({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hi' }] })
      .catch((error: unknown) => error);
    await upstream.statsWhen(({ inFlight }) => inFlight === 1);
    await server.kill();
    expect(await pending).toBeInstanceOf(OpenAI.APIConnectionError);
    await upstream.close();
  });
});

function readStream(client: OpenAI): Reading {
  let text = '';
  let finish: string | undefined;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const read = async (): Promise<void> => {
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    for await (const chunk of await client.chat.completions.create({ model: 'gpt-4.1', messages, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? '';
      finish = chunk.choices[0]?.finish_reason ?? finish;
      if (text !== '') begin();
    }
  };
  const ended = read()
    .then(() => undefined)
    .catch((error: unknown) => error)
    .then((error) => ({ text, finish, error }));
  return { begun, ended };
}

/** Resolves when new requests are refused; with `staysUp: false` also when there is nobody left to refuse them. */
async function refusing({ url }: SpawnedServer, staysUp = true): Promise<void> {
  for (;;) {
    const status = await statusOf(`${url}/v1/models`);
    if (status === 503 || (!staysUp && status === undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function unready({ url }: SpawnedServer): Promise<void> {
  while ((await statusOf(`${url}/ready`)) !== 503) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Undefined: nobody answered. */
async function statusOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url);
    await response.text();
    return response.status;
  } catch {
    return undefined;
  }
}
