import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { messageOf, post, startTestSimulator, type RawReply, type TestSimulator } from '../support/simulator.js';

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
    expect(messageOf(await json()).content).toBe('exactly this');
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
