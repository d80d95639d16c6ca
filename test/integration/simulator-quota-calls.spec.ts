import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  booksOf,
  chunksOf,
  errorOf,
  post,
  startTestSimulator,
  streamedText,
  usageOf,
  type QuotaBooks,
  type RawReply,
  type TestSimulator,
} from '../support/simulator.js';

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterEach(async () => {
  await simulator.statsWhen(({ inFlight }) => inFlight === 0);
  await fetch(`${simulator.origin}/control/limits`, { method: 'DELETE' });
  await simulator.reset();
});
afterAll(() => simulator.close());

const MODEL = 'gpt-4.1';
const ask = (content: string, more: object = {}): Promise<RawReply> =>
  simulator.chat({ model: MODEL, messages: [{ role: 'user', content }], ...more });
const settled = (model = MODEL): Promise<QuotaBooks> =>
  simulator.statsWhen(({ inFlight }) => inFlight === 0).then((stats) => booksOf(stats, model));

/** Opens a stream, and resolves when its first frame is there. */
async function openStream(
  model: string,
): Promise<{ readonly text: () => string; leave(): void; readonly ended: Promise<void> }> {
  const leaving = new AbortController();
  const body = { model, stream: true, max_tokens: 400, messages: [{ role: 'user', content: 'words:300' }] };
  const url = `${simulator.url}/chat/completions`;
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body), signal: leaving.signal });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  let text = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  text += (await reader.read()).value ?? '';
  const rest = async (): Promise<void> => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  };
  const ended = rest().catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error;
  });
  return {
    text: () => text,
    leave: () => {
      leaving.abort();
    },
    ended,
  };
}

describe('slots, over HTTP', () => {
  it('are held by streams for as long as they run, and come back when callers leave', async () => {
    await simulator.limit({ slow: 'concurrency=3' });
    const streams = [await openStream('slow'), await openStream('slow'), await openStream('slow')];
    const refused = await ask('hi', { model: 'slow' });
    expect(refused.status).toBe(429);
    expect(errorOf(refused).message).toContain('on concurrent requests: Limit 3, Used 3, Requested 1.');
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'retry-after-ms': '1000' });
    for (const stream of streams) stream.leave();
    await Promise.all(streams.map(({ ended }) => ended));
    const books = await settled('slow');
    expect(books).toMatchObject({ inFlight: 0, peakInFlight: 3, aborted: 3, refused: { concurrency: 1 } });
    expect((await ask('echo: hi', { model: 'slow', max_tokens: 2 })).status).toBe(200);
  });

  it('come back from requests that never get an answer, failures and resets', async () => {
    await simulator.limit({ [MODEL]: 'concurrency=1' });
    await simulator.script({ reset: true }, { status: 500 }, { cutAfterFrames: 1 }, { neverAnswer: true });
    for (let call = 0; call < 3; call += 1) {
      await ask('hi', { stream: true });
      await settled();
    }
    const leaving = new AbortController();
    const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hi' }] });
    const silent = post(`${simulator.url}/chat/completions`, body, {}, leaving.signal);
    await simulator.statsWhen((stats) => booksOf(stats, MODEL).inFlight === 1);
    leaving.abort();
    await silent;
    await settled();
    expect((await ask('hi')).status).toBe(200);
    expect(await settled()).toMatchObject({ seen: 5, admitted: 5, aborted: 1, peakInFlight: 1, inFlight: 0 });
  });
});

describe('the bills of a quota', () => {
  it('are the usage of whole replies', async () => {
    const usages = [usageOf(await ask('one')), usageOf(await ask('words:50', { max_tokens: 20 }))];
    await ask('echo: streamed', { stream: true });
    const { billed, billedPartly } = await settled();
    const streamed = { prompt_tokens: 10, completion_tokens: 2 };
    const sum = (member: 'prompt_tokens' | 'completion_tokens'): number =>
      [...usages, streamed].reduce((total, usage) => total + usage[member], 0);
    expect(billed).toEqual({
      replies: 3,
      promptTokens: sum('prompt_tokens'),
      cachedTokens: 0,
      completionTokens: sum('completion_tokens'),
    });
    expect(billedPartly.replies).toBe(0);
  });

  it.each(['cutAfterFrames', 'endAfterFrames', 'errorAfterFrames'])(
    'are what a stream had delivered where it ends by %s',
    async (member) => {
      const text = 'echo: one two three four five six seven';
      await simulator.script({ [member]: 4 });
      const reply = await ask(text, { stream: true });
      const [said = ''] = reply.text.split('data: {"error"');
      expect(streamedText(said)).toBe('one two three');
      const { billed, billedPartly } = await settled();
      expect(billed.replies).toBe(0);
      const { prompt_tokens: promptTokens } = usageOf(await ask(text));
      expect(billedPartly).toEqual({ replies: 1, promptTokens, cachedTokens: 0, completionTokens: 3 });
    },
  );

  it('are what had been delivered where the caller leaves, by the rule that counts use', async () => {
    await simulator.limit({ slow: 'tpm=1000000,rule=cmp' });
    const stream = await openStream('slow');
    await simulator.statsWhen(() => chunksOf(whole(stream.text())).length > 3);
    stream.leave();
    await stream.ended;
    const { billed, billedPartly, windows } = await settled('slow');
    expect([billed.replies, billedPartly.replies]).toEqual([0, 1]);
    expect(billedPartly.completionTokens).toBeGreaterThan(0);
    expect(billedPartly.completionTokens).toBeLessThan(300);
    const used = billedPartly.promptTokens + billedPartly.completionTokens;
    expect(windows).toMatchObject([{ tokens: { used, most: used } }]);
  });

  it('are nothing for refusals, failures and what never began', async () => {
    await simulator.limit({ [MODEL]: 'rpm=3' });
    await simulator.script({ status: 500 }, { reset: true });
    for (let call = 0; call < 2; call += 1) await ask('hi');
    await ask('hi', { temperature: 9 });
    await ask('hi');
    const nothing = { replies: 0, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };
    expect(await settled()).toMatchObject({ seen: 4, admitted: 3, billed: nothing, billedPartly: nothing });
  });
});

/** Without a last line that is not whole yet. */
function whole(text: string): string {
  return text.slice(0, text.lastIndexOf('\n\n') + 2);
}
