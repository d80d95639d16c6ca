import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { post, startTestSimulator, type RawReply, type TestSimulator } from '../support/simulator.js';

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.close());

const TEXT = 'one 你好 😀 e\u0301 four';
const json = (more: object = {}): Promise<RawReply> =>
  simulator.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content: `echo: ${TEXT}` }], ...more });

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
