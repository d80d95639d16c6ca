import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  frames,
  post,
  startTestSimulator,
  streamedText,
  type RawReply,
  type TestSimulator,
} from '../support/simulator.js';

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.close());

const TEXT = 'one 你好 😀 e\u0301 four';
const json = (more: object = {}): Promise<RawReply> =>
  simulator.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content: `echo: ${TEXT}` }], ...more });
const stream = (more: object = {}): Promise<RawReply> => json({ stream: true, ...more });

function contentOf(reply: RawReply): unknown {
  const body = JSON.parse(reply.text) as { choices: { message: { content: unknown } }[] };
  return body.choices[0]?.message.content;
}

describe('POST /control/script', () => {
  it('names every fault at once', async () => {
    const faults = simulator.script(
      { cutAfterFrame: 1 },
      { times: 0, status: 99, drip: { bytes: 0 } },
      { status: 200 },
    );
    await expect(faults).rejects.toThrow(/\[0\]\.cutAfterFrame: unknown; known are .*cutAfterFrames/);
    await expect(faults).rejects.toThrow(/\[1\]\.times: must be .*\[1\]\.status: must be .*\[1\]\.drip: must be/);
    await expect(faults).rejects.toThrow(/\[2\]\.status: below 400 it needs a body/);
    expect((await post(`${simulator.origin}/control/script`, '"x"')).status).toBe(400);
    expect((await post(`${simulator.origin}/control/script`, '{"__proto__":1}')).status).toBe(400);
  });

  it('queues for coming requests, in order, so many times', async () => {
    await simulator.script({ times: 2, status: 429 }, { status: 503 });
    const statuses: number[] = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await json()).status);
    expect(statuses).toEqual([429, 429, 503, 200]);
  });

  it('takes only the requests that it is for', async () => {
    await simulator.script(
      { model: 'slow', status: 500 },
      { contains: 'needle', status: 501 },
      { keyEndsWith: 'bad', status: 502 },
    );
    expect((await json()).status).toBe(200);
    expect((await json({ user: 'needle' })).status).toBe(501);
    expect((await json({ model: 'slow' })).status).toBe(500);
    const body = { model: 'gpt-4.1', messages: [{ role: 'user', content: 'hi' }] };
    expect((await simulator.chat(body, { authorization: 'Bearer key-good' })).status).toBe(200);
    expect((await simulator.chat(body, { authorization: 'Bearer key-bad' })).status).toBe(502);
  });

  it('takes a share of them by the seed', async () => {
    const run = async (): Promise<boolean[]> => {
      const twin = await startTestSimulator({ seed: 3 });
      await twin.script({ share: 0.3, status: 500 });
      const failed: boolean[] = [];
      for (let call = 0; call < 100; call += 1) {
        failed.push(
          (await twin.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'echo: a' }] })).status === 500,
        );
      }
      await twin.close();
      return failed;
    };
    const first = await run();
    expect(await run()).toEqual(first);
    expect(first.filter(Boolean).length).toBeGreaterThan(15);
    expect(first.filter(Boolean).length).toBeLessThan(45);
  });

  it('scripts the other endpoints too', async () => {
    await simulator.script(
      { endpoint: 'usage', body: { tier: 'free', remaining: 3 } },
      { endpoint: 'usage', status: 403 },
    );
    expect(await (await fetch(`${simulator.url}/usage`)).json()).toEqual({ tier: 'free', remaining: 3 });
    expect((await fetch(`${simulator.url}/usage`)).status).toBe(403);
    expect((await fetch(`${simulator.url}/usage`)).status).toBe(200);
  });

  it('lists and clears what waits', async () => {
    await simulator.script({ times: 'always', status: 500 });
    const list = await fetch(`${simulator.origin}/control/script`);
    expect(await list.json()).toEqual({ scripts: [{ endpoint: 'chat', status: 500, times: 'always' }] });
    await simulator.reset();
    expect((await json()).status).toBe(200);
  });

  it('holds a bounded number', async () => {
    await simulator.script(...Array.from({ length: 1_000 }, () => ({ status: 500 })));
    await expect(simulator.script({ status: 500 })).rejects.toThrow('at most 1000');
  });
});

describe('scripted answers', () => {
  it('sends a status with headers and a body, or what a provider says with it', async () => {
    await simulator.script(
      {
        status: 429,
        headers: { 'retry-after': '1', 'x-extra': 'y' },
        body: { error: { message: 'm', code: 'insufficient_quota' } },
      },
      { status: 529 },
      { status: 502, body: '<html>bad gateway</html>', headers: { 'content-type': 'text/html' } },
    );
    const limited = await json();
    expect(limited.headers).toMatchObject({ 'retry-after': '1', 'x-extra': 'y', 'content-type': 'application/json' });
    expect(JSON.parse(limited.text)).toEqual({ error: { message: 'm', code: 'insufficient_quota' } });
    expect(JSON.parse((await json()).text)).toMatchObject({ error: { type: 'overloaded_error' } });
    const page = await json();
    expect([page.headers['content-type'], page.text]).toEqual(['text/html', '<html>bad gateway</html>']);
  });

  it('sends garbage that says it is JSON', async () => {
    await simulator.script({ garbageBody: true });
    const reply = await json();
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
    expect(() => JSON.parse(reply.text) as unknown).toThrow();
  });

  it('says an exact text, and tells an exact usage or none', async () => {
    await simulator.script({ text: 'exactly this' }, { usage: { prompt_tokens: 0 } }, { usage: null });
    expect(contentOf(await json())).toBe('exactly this');
    expect(JSON.parse((await json()).text)).toMatchObject({ usage: { prompt_tokens: 0 } });
    const without = await stream({ stream_options: { include_usage: true } });
    expect(without.text).not.toContain('usage');
    expect(without.text).toContain('[DONE]');
  });

  it('sends raw frames as they are', async () => {
    await simulator.script({ frames: [': hello\n\n', 'data:{"a":1}\r\n\r\n', 'event: error\ndata: x\n\n'] });
    const reply = await stream();
    expect(reply.end).toBe('complete');
    expect(reply.text).toBe(': hello\n\ndata:{"a":1}\r\n\r\nevent: error\ndata: x\n\n');
  });

  it('resets the connection before a byte', async () => {
    await simulator.script({ reset: true });
    expect(await json()).toMatchObject({ status: 0, end: 'reset' });
    expect((await simulator.stats()).abortedByClient).toBe(0);
  });

  it('answers after a delay', async () => {
    await simulator.script({ delayMs: 80 });
    const started = performance.now();
    expect((await json()).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThanOrEqual(79);
  });
});

describe('scripted streams', () => {
  it('destroys the connection after so many frames', async () => {
    await simulator.script({ cutAfterFrames: 3 }, { cutAfterFrames: 0 });
    const cut = await stream();
    expect([cut.status, cut.end]).toEqual([200, 'cut']);
    expect(frames(cut.text)).toHaveLength(3);
    expect(await stream()).toMatchObject({ status: 200, end: 'cut', text: '' });
  });

  it('ends cleanly without [DONE]', async () => {
    await simulator.script({ endAfterFrames: 3 });
    const reply = await stream();
    expect(reply.end).toBe('complete');
    expect(frames(reply.text)).toHaveLength(3);
    expect(reply.text).not.toContain('[DONE]');
  });

  it('puts one frame of garbage in', async () => {
    await simulator.script({ garbageAfterFrames: 2 });
    const reply = await stream();
    const lines = reply.text.split('\n\n').filter((line) => line !== '' && line !== 'data: [DONE]');
    expect(() => JSON.parse(lines[2]?.slice(6) ?? '') as unknown).toThrow();
    expect(reply.text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('sends an error frame after 200, then ends', async () => {
    await simulator.script({ errorAfterFrames: 0 }, { errorAfterFrames: 2, error: { message: 'boom', code: 'x' } });
    const first = frames((await stream()).text);
    expect(first).toEqual([{ error: expect.objectContaining({ type: 'server_error' }) as unknown }]);
    const second = await stream();
    expect(frames(second.text)[2]).toEqual({ error: { message: 'boom', code: 'x' } });
    expect(second.text).not.toContain('[DONE]');
  });

  it('goes silent in the middle until the client leaves, or for a while', async () => {
    await simulator.script({ stallAfterFrames: 2 }, { stallAfterFrames: 2, stallMs: 60 });
    const leaving = new AbortController();
    const body = JSON.stringify({
      model: 'gpt-4.1',
      stream: true,
      messages: [{ role: 'user', content: 'echo: a b c' }],
    });
    const stalled = post(`${simulator.url}/chat/completions`, body, {}, leaving.signal);
    await simulator.statsWhen((stats) => stats.lastRequests.some((request) => request.status === 200));
    setTimeout(() => leaving.abort(), 30);
    const reply = await stalled;
    expect(frames(reply.text)).toHaveLength(2);
    const stats = await simulator.statsWhen(({ abortedByClient }) => abortedByClient === 1);
    expect(stats.inFlight).toBe(0);
    expect(streamedText((await stream()).text)).toBe(TEXT);
  });

  it.each([
    ['crlf', { crlf: true }],
    ['byte by byte', { bytewise: true }],
    ['in drips', { drip: { bytes: 40, everyMs: 0 } }],
    ['with comments', { comments: true }],
    ['split in every frame', { splitAt: 7 }],
    ['split within a character', { splitAt: 250 }],
    ['with an early head', { earlyHead: true }],
  ])('delivers the same text %s', async (_, script) => {
    await simulator.script(script, script);
    const plain = streamedText((await stream()).text);
    expect(plain).toBe(TEXT);
    expect(contentOf(await json())).toBe(TEXT);
  });

  it('shows these habits on the wire', async () => {
    await simulator.script({ crlf: true }, { bytewise: true }, { comments: true }, { splitAt: 7 }, { comments: true });
    expect((await stream()).text).toMatch(/^data: [^\n]*\r\n\r\n/);
    const bytes = await stream();
    expect(bytes.chunks.every((chunk) => chunk.length === 1)).toBe(true);
    expect((await stream()).text).toContain(': keep-alive\n\ndata: ');
    expect((await stream()).chunks[0]).toHaveLength(7);
    expect((await json()).text).toMatch(/^\n+\{/);
  });

  it('keeps a waiting client alive with comments before the first token', async () => {
    const reply = await stream({ model: 'slow', max_tokens: 2 });
    expect(reply.text.startsWith('data: ')).toBe(true);
    await simulator.script({ comments: true });
    expect((await stream({ model: 'slow', max_tokens: 2 })).text.startsWith(': keep-alive\n\n')).toBe(true);
  });

  it('applies to a JSON body by its quarters', async () => {
    await simulator.script({ cutAfterFrames: 2 }, { endAfterFrames: 2 });
    expect(await json()).toMatchObject({ status: 200, end: 'cut' });
    const half = await json();
    expect(half.end).toBe('complete');
    expect(() => JSON.parse(half.text) as unknown).toThrow();
  });
});

describe('the speed of a model', () => {
  it('takes its first token time and its rate, divided by the speed', async () => {
    const body = { model: 'slow', messages: [{ role: 'user', content: 'echo: a b c d e' }], stream: true };
    const started = performance.now();
    const reply = await simulator.chat(body);
    const slowMs = performance.now() - started;
    expect(slowMs).toBeGreaterThanOrEqual(50 + 5 * 50 - 5);
    expect(reply.chunks.length).toBeGreaterThan(4);
    const fast = await startTestSimulator({ speed: 1_000 });
    const startedFast = performance.now();
    await fast.chat(body);
    expect(performance.now() - startedFast).toBeLessThan(slowMs);
    await fast.close();
  });
});

describe('GET /stats', () => {
  it('counts by model and status, and what was billed', async () => {
    await simulator.script({ status: 429 });
    await json();
    await json();
    await json({ model: 'tiny' });
    await json({ model: 'nope' });
    await fetch(`${simulator.url}/models`);
    const stats = await simulator.statsWhen(({ inFlight }) => inFlight === 0);
    expect(stats.requests).toEqual({
      total: 4,
      byModel: { 'gpt-4.1': 2, tiny: 1, unknown: 1 },
      byStatus: { 200: 2, 404: 1, 429: 1 },
    });
    expect(stats.otherRequests).toEqual({ models: 1 });
    expect(stats.billed.replies).toBe(2);
  });

  it('knows how many were in flight at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => json({ model: 'slow', max_tokens: 2 })));
    const stats = await simulator.statsWhen(({ inFlight }) => inFlight === 0);
    expect(stats.peakInFlight).toBe(5);
  });

  it('counts clients that leave before the first byte and in the middle, and stops their work', async () => {
    await simulator.script({ neverAnswer: true });
    const leaving = new AbortController();
    const body = JSON.stringify({ model: 'slow', stream: true, messages: [{ role: 'user', content: 'words:500' }] });
    const silent = post(`${simulator.url}/chat/completions`, body, {}, leaving.signal);
    const streaming = post(`${simulator.url}/chat/completions`, body, {}, leaving.signal);
    await simulator.statsWhen(({ lastRequests }) => lastRequests.filter(({ status }) => status === 200).length === 1);
    leaving.abort();
    await Promise.all([silent, streaming]);
    const stats = await simulator.statsWhen(({ inFlight }) => inFlight === 0);
    expect(stats.abortedByClient).toBe(2);
    expect(stats.requests.byStatus).toEqual({ 200: 1, none: 1 });
    expect(stats.lastRequests.map(({ outcome }) => outcome)).toEqual(['aborted', 'aborted']);
    expect(stats.billed.replies).toBe(0);
  });

  it('shows the last requests as they reached the wire, keys by their last four characters', async () => {
    const text = '{"model":"gpt-4.1", "messages":[{"role":"user","content":"hi"}],"big":12345678901234567890}';
    const headers = { authorization: 'Bearer sk-secret-key-1234', 'x-mine': '1' };
    await post(`${simulator.url}/chat/completions`, text, headers);
    await json({ model: 'tiny' });
    const page = await (await fetch(`${simulator.origin}/stats`)).text();
    expect(page).not.toContain('secret');
    const { lastRequests } = await simulator.stats('?contains=big');
    expect(lastRequests).toHaveLength(1);
    expect(lastRequests[0]).toMatchObject({
      path: '/v1/chat/completions',
      status: 200,
      outcome: 'answered',
      rawBody: text,
      headers: { authorization: 'Bearer …1234', 'x-mine': '1' },
    });
    expect((await simulator.stats('?model=tiny')).lastRequests).toHaveLength(1);
    expect((await simulator.stats('?limit=1')).lastRequests).toMatchObject([{ model: 'tiny' }]);
    expect((await fetch(`${simulator.origin}/stats?colour=red`)).status).toBe(400);
  });

  it('keeps a hundred of them', async () => {
    for (let call = 0; call < 120; call += 1) await json({ user: String(call) });
    const { lastRequests, requests } = await simulator.stats();
    expect([requests.total, lastRequests.length]).toEqual([120, 100]);
    expect(lastRequests.at(-1)?.body).toMatchObject({ user: '119' });
  });

  it('waits for a client that reads slowly instead of buffering everything', async () => {
    const leaving = new AbortController();
    const body = JSON.stringify({
      model: 'gpt-4.1',
      stream: true,
      messages: [{ role: 'user', content: 'words:50000' }],
    });
    const response = await fetch(`${simulator.url}/chat/completions`, { method: 'POST', body, signal: leaving.signal });
    const stats = await simulator.stats();
    expect(stats.inFlight).toBe(1);
    leaving.abort();
    await response.text().catch(() => undefined);
    await simulator.statsWhen(({ inFlight, abortedByClient }) => inFlight === 0 && abortedByClient === 1);
  });
});
