import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { anyBody } from '../support/any-body.js';
import { type OpenConfig, writeOpenConfig } from '../support/config-file.js';
import { sized } from '../support/proof-scale.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { type E2eUpstream, UPSTREAMS } from '../support/upstreams.js';

jest.setTimeout(sized(120_000, 3_600_000));

const RUNS = sized(500, 20_000);

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

describe.each(UPSTREAMS)('any body over %s', (_, start) => {
  let upstream: E2eUpstream;
  let config: OpenConfig;
  let server: SpawnedServer;

  beforeAll(async () => {
    upstream = await start();
    config = await writeOpenConfig(upstream.url, ['gpt-4.1', 'deepseek-v3.2', 'gemini-2.5-flash']);
    server = await spawnServer({ environment: config.environment });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
    await config.remove();
  });

  it('gives 200 or a 4xx in the error shape, never a 5xx', async () => {
    const seen = { whole: 0, streamed: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(anyBody, async (body) => {
        const answer = await send(server.url, body);
        if (answer.status === 200) {
          const isStream = answer.type.startsWith('text/event-stream');
          seen[isStream ? 'streamed' : 'whole'] += 1;
          if (isStream) checkStream(answer.text);
          else expect(JSON.parse(answer.text)).toMatchObject({ object: 'chat.completion' });
        } else {
          seen.refused += 1;
          expect(answer.status).toBeGreaterThanOrEqual(400);
          expect(answer.status).toBeLessThan(500);
          checkError(JSON.parse(answer.text));
        }
      }),
      { numRuns: RUNS },
    );
    // The property says nothing of bodies that are all refused.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 50);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    expect(server.logs()).not.toContain('unforeseen error');
  });
});

async function send(url: string, body: string): Promise<Answer> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  };
}

/** OpenAI's error object and nothing else. */
function checkError(body: unknown): void {
  expect(body).toEqual({ error: expect.any(Object) });
  const { message, type, param, code, ...more } = (body as { error: Record<string, unknown> }).error;
  expect([typeof message, message === '', typeof type]).toEqual(['string', false, 'string']);
  for (const each of [param, code]) expect(each === null || typeof each === 'string').toBe(true);
  expect(more).toEqual({});
}

/** Frames of one line of JSON each, then either `[DONE]` or an error. */
function checkStream(text: string): void {
  expect(text.endsWith('\n\n')).toBe(true);
  const frames = text.slice(0, -2).split('\n\n');
  const last = frames.pop() ?? '';
  for (const frame of frames) {
    if (frame.startsWith(':')) continue;
    expect(frame).toMatch(/^data: \{[^\r\n]*\}$/);
    expect(JSON.parse(frame.slice(6))).toMatchObject({ object: 'chat.completion.chunk' });
  }
  if (last !== 'data: [DONE]') checkError(JSON.parse(last.slice(6)));
}
