import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import OpenAI from 'openai';
import { ABORT_SEEN_MS } from '../support/abort-limits.js';
import { sized } from '../support/proof-scale.js';
import { type SimulatorStats, startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { environmentFor, type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

const model = 'gpt-4.1';
const prompt = 'words:200';
const messages = [{ role: 'user' as const, content: prompt }];

interface Client {
  whole(signal: AbortSignal): Promise<unknown>;
  /** Calls `onPiece` for every piece; ends when the stream does. */
  stream(signal: AbortSignal, onPiece: () => void): Promise<unknown>;
}

function clientsOf(baseURL: string): Readonly<Record<string, Client>> {
  const openai = new OpenAI({ baseURL, apiKey: 'sk-any' });
  const sdk = createOpenAICompatible({ name: 'coordinator', baseURL, apiKey: 'sk-any' });
  const langchain = new ChatOpenAI({ model, apiKey: 'sk-any', configuration: { baseURL } });
  return {
    openai: {
      whole: (signal) => openai.chat.completions.create({ model, messages }, { signal }),
      stream: async (signal, onPiece) =>
        count(await openai.chat.completions.create({ model, messages, stream: true }, { signal }), onPiece),
    },
    ai: {
      whole: (abortSignal) => generateText({ model: sdk(model), prompt, abortSignal }),
      stream: (abortSignal, onPiece) =>
        count(streamText({ model: sdk(model), prompt, abortSignal }).textStream, onPiece),
    },
    langchain: {
      whole: (signal) => langchain.invoke(prompt, { signal }),
      stream: async (signal, onPiece) => count(await langchain.stream(prompt, { signal }), onPiece),
    },
  };
}

describe.each(['openai', 'ai', 'langchain'])('row 43: the client %s leaves', (name) => {
  let upstream: TestSimulator;
  let server: SpawnedServer;
  let client: Client;

  beforeAll(async () => {
    upstream = await startTestSimulator();
    server = await spawnServer({ environment: environmentFor(upstream.url) });
    const found = clientsOf(`${server.url}/v1`)[name];
    if (found === undefined) throw new Error(`no client ${name}`);
    client = found;
  });
  afterEach(() => upstream.reset());
  afterAll(async () => {
    await server.kill();
    await upstream.close();
  });

  /** Aborts, and gives the statistics as soon as the provider has seen it. */
  const leave = async (leaving: AbortController): Promise<{ stats: SimulatorStats; afterMs: number }> => {
    const startedAt = performance.now();
    leaving.abort();
    const stats = await upstream.statsWhen(({ abortedByClient }) => abortedByClient > 0);
    return { stats, afterMs: performance.now() - startedAt };
  };

  const expectOneAborted = ({ stats, afterMs }: Awaited<ReturnType<typeof leave>>): void => {
    expect(stats).toMatchObject({ abortedByClient: 1, inFlight: 0, requests: { total: 1 } });
    expect(afterMs).toBeLessThan(ABORT_SEEN_MS);
  };

  it('before the answer’s first byte', async () => {
    await upstream.script({ neverAnswer: true });
    const leaving = new AbortController();
    const pending = client.whole(leaving.signal).catch(String);
    await upstream.statsWhen(({ inFlight }) => inFlight === 1);
    expectOneAborted(await leave(leaving));
    expect(await pending).toMatch(/abort/i);
  });

  it('in the middle of an answer in JSON', async () => {
    await upstream.script({ earlyHead: true, stallAfterFrames: 2 });
    const leaving = new AbortController();
    const pending = client.whole(leaving.signal).catch(String);
    await upstream.statsWhen(({ lastRequests }) => lastRequests.some(({ status }) => status === 200));
    expectOneAborted(await leave(leaving));
    expect(await pending).toMatch(/abort/i);
  });

  it('a stream before its first token', async () => {
    await upstream.script({ earlyHead: true, stallAfterFrames: 1 });
    const leaving = new AbortController();
    const pending = client.stream(leaving.signal, () => undefined).catch(String);
    await upstream.statsWhen(({ lastRequests }) => lastRequests.some(({ status }) => status === 200));
    expectOneAborted(await leave(leaving));
    await pending;
  });

  it('a stream between two tokens', async () => {
    await upstream.script({ stallAfterFrames: 10 });
    const leaving = new AbortController();
    let pieces = 0;
    const begun = new Promise<void>((resolve) => {
      void client
        .stream(leaving.signal, () => {
          pieces += 1;
          if (pieces === 5) resolve();
        })
        .catch(String);
    });
    await begun;
    expectOneAborted(await leave(leaving));
  });
});

async function count(stream: AsyncIterable<unknown>, onPiece: () => void): Promise<void> {
  for await (const piece of stream) {
    if (piece !== undefined) onPiece();
  }
}
