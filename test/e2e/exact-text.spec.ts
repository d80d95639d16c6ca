import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import OpenAI from 'openai';
import { type OpenConfig, writeOpenConfig } from '../support/config-file.js';
import { sized } from '../support/proof-scale.js';
import {
  chunk,
  completion,
  DONE,
  finish,
  startScriptedUpstream,
  type ScriptedUpstream,
  usageChunk,
} from '../support/scripted-upstream.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { EXACT_TEXT } from '../support/wire-samples.js';

jest.setTimeout(sized(120_000, 3_600_000));

/** Requests at one time. */
const LANES = 8;

const text = `${EXACT_TEXT} n\u0303 a\u0308\u0301 ก็ हिन्दी 👍🏽`;
const messages = [{ role: 'user' as const, content: 'Hi' }];

describe('text exact wherever the provider’s bytes are cut', () => {
  let upstream: ScriptedUpstream;
  let config: OpenConfig;
  let server: SpawnedServer;
  let client: OpenAI;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    config = await writeOpenConfig(upstream.url, ['gpt-4.1']);
    server = await spawnServer({ environment: config.environment });
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-any', maxRetries: 0 });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
    await config.remove();
  });

  /** The provider sends these bytes in two pieces, cut where the request says. */
  const playCut = (bytes: Buffer, contentType: string): void => {
    upstream.requests.splice(0);
    upstream.play(async ({ body }, response) => {
      // What asks for the key's tier brings none.
      const { cutAt = 0 } = (body['metadata'] ?? {}) as { cutAt?: string };
      response.writeHead(200, { 'content-type': contentType });
      await write(response, bytes.subarray(0, Number(cutAt)));
      response.end(bytes.subarray(Number(cutAt)));
    });
  };

  /** Of the provider, since the bytes were chosen. */
  const calls = (): number => upstream.requests.filter(({ path }) => path.endsWith('/chat/completions')).length;

  const callFor = (cutAt: number) => ({ model: 'gpt-4.1', messages, metadata: { cutAt: String(cutAt) } });

  it('as a stream, at every byte', async () => {
    const bytes = Buffer.from([chunk(text.slice(0, 5)), chunk(text.slice(5)), finish(), usageChunk(), DONE].join(''));
    playCut(bytes, 'text/event-stream');
    await atOffsets(bytes.length, async (cutAt) => {
      const stream = await client.chat.completions.create({ ...callFor(cutAt), stream: true });
      const parts: (string | null | undefined)[] = [];
      for await (const piece of stream) parts.push(piece.choices[0]?.delta.content);
      expect({ cutAt, text: parts.join('') }).toEqual({ cutAt, text });
    });
    expect(calls()).toBe(bytes.length + 1);
  });

  it('as JSON, at every byte', async () => {
    const bytes = Buffer.from(JSON.stringify(completion(text)));
    playCut(bytes, 'application/json');
    await atOffsets(bytes.length, async (cutAt) => {
      const reply = await client.chat.completions.create(callFor(cutAt));
      expect({ cutAt, text: reply.choices[0]?.message.content }).toEqual({ cutAt, text });
    });
    expect(calls()).toBe(bytes.length + 1);
  });
});

describe('text exact from the simulator', () => {
  let upstream: TestSimulator;
  let config: OpenConfig;
  let server: SpawnedServer;

  beforeAll(async () => {
    upstream = await startTestSimulator();
    config = await writeOpenConfig(upstream.url, ['gpt-4.1']);
    server = await spawnServer({ environment: config.environment });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
    await config.remove();
  });

  it.each([
    ['every frame cut at every byte', Array.from({ length: 260 }, (_, splitAt) => ({ text, splitAt }))],
    ['byte by byte', [{ text, bytewise: true }]],
    ['lines that end in CRLF, byte by byte', [{ text, bytewise: true, crlf: true }]],
    ['with comments between', [{ text, comments: true, splitAt: 3 }]],
    ['nothing but emoji', [{ text: '😀'.repeat(400), splitAt: 1 }]],
  ])('%s', async (_, scripts) => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'sk-any', maxRetries: 0 });
    const { requests: before } = await upstream.stats();
    for (const script of scripts) {
      await upstream.script({ ...script, times: 2 });
      const call = { model: 'gpt-4.1', messages };
      const whole = await client.chat.completions.create(call);
      const streamed = await client.chat.completions.stream(call).finalChatCompletion();
      for (const { choices } of [whole, streamed]) expect(choices[0]?.message.content).toBe(script.text);
    }
    expect((await upstream.stats()).requests.total - before.total).toBe(2 * scripts.length);
  });
});

/** Runs for the offsets from 0 to `length`, some at one time. */
async function atOffsets(length: number, run: (offset: number) => Promise<void>): Promise<void> {
  const offsets = Array.from({ length: length + 1 }, (_, offset) => offset).values();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (const offset of offsets) await run(offset);
    }),
  );
}

/** Written and gone before the next write: Node joins what is written in one turn of the event loop. */
async function write(response: ServerResponse, bytes: Buffer): Promise<void> {
  await new Promise((resolve) => response.write(bytes, resolve));
  await nextTurn();
}
