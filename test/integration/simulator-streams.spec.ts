import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import {
  chunksOf,
  messageOf,
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

describe('scripted streams', () => {
  it('destroys the connection after so many frames', async () => {
    await simulator.script({ cutAfterFrames: 3 }, { cutAfterFrames: 0 });
    const cut = await stream();
    expect([cut.status, cut.end]).toEqual([200, 'cut']);
    expect(chunksOf(cut.text)).toHaveLength(3);
    expect(await stream()).toMatchObject({ status: 200, end: 'cut', text: '' });
  });

  it('ends cleanly without [DONE]', async () => {
    await simulator.script({ endAfterFrames: 3 });
    const reply = await stream();
    expect(reply.end).toBe('complete');
    expect(chunksOf(reply.text)).toHaveLength(3);
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
    const first = chunksOf((await stream()).text);
    expect(first).toEqual([{ error: expect.objectContaining({ type: 'server_error' }) as unknown }]);
    const second = await stream();
    expect(chunksOf(second.text)[2]).toEqual({ error: { message: 'boom', code: 'x' } });
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
    setTimeout(() => {
      leaving.abort();
    }, 30);
    const reply = await stalled;
    expect(chunksOf(reply.text)).toHaveLength(2);
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
    expect(messageOf(await json()).content).toBe(TEXT);
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
    // At a hundredth of the time; a machine that runs other things beside may be late now and then.
    await eventually(async () => {
      const startedFast = performance.now();
      await fast.chat(body);
      return performance.now() - startedFast < slowMs;
    });
    await fast.close();
  });
});
