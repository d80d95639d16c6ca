import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import {
  booksOf,
  errorOf,
  startTestSimulator,
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
const ask = (content: string, more: object = {}, headers?: Record<string, string>): Promise<RawReply> =>
  simulator.chat({ model: MODEL, messages: [{ role: 'user', content }], ...more }, headers);

const settled = (model = MODEL, key?: string): Promise<QuotaBooks> =>
  simulator.statsWhen(({ inFlight }) => inFlight === 0).then((stats) => booksOf(stats, model, key));

describe('a quota, over HTTP', () => {
  it('refuses in the shape of OpenAI, with the wait in seconds and milliseconds', async () => {
    await simulator.limit({ [MODEL]: 'rpm=2' });
    await ask('hi');
    await ask('hi');
    const refused = await ask('hi');
    expect(refused.status).toBe(429);
    expect(errorOf(refused)).toEqual({
      message: expect.stringMatching(
        /^Rate limit reached for gpt-4\.1 on requests per min \(RPM\): Limit 2, Used 2, Requested 1\. Please try again in [\d.]+s\.$/,
      ),
      type: 'requests',
      param: null,
      code: 'rate_limit_exceeded',
    });
    const waitMs = Number(refused.headers['retry-after-ms']);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(60_000);
    expect(refused.headers).toMatchObject({
      'content-type': 'application/json',
      'retry-after': String(Math.ceil(waitMs / 1_000)),
      'x-request-id': expect.stringMatching(/^req_/),
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': expect.stringMatching(/^(\d+m)?[\d.]+s$/),
    });
  });

  it('tells what is left with every answer: JSON, streams, faults of the request and scripted ones', async () => {
    await simulator.limit({ [MODEL]: 'rpm=10,tpm=1000' });
    await simulator.script({ contains: 'broken', status: 500 });
    const replies = [
      await ask('hi', { max_tokens: 10 }),
      await ask('hi', { max_tokens: 10, stream: true }),
      await ask('hi', { max_tokens: 10, temperature: 9 }),
      await ask('broken', { max_tokens: 10 }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400, 500]);
    const left = (kind: string): unknown[] => replies.map(({ headers }) => headers[`x-ratelimit-remaining-${kind}`]);
    expect(left('requests')).toEqual(['9', '8', '7', '6']);
    // A prompt of 8 tokens and 10 asked for, each time.
    expect(left('tokens')).toEqual(['982', '964', '946', '928']);
    for (const { headers } of replies) {
      expect(headers).toMatchObject({ 'x-ratelimit-limit-requests': '10', 'x-ratelimit-limit-tokens': '1000' });
      expect(headers).not.toHaveProperty('retry-after');
    }
  });

  it('lets in again exactly when it said', async () => {
    await simulator.limit({ [MODEL]: 'requests=3/300ms' });
    const started = performance.now();
    let admitted = 0;
    while (performance.now() - started < 1_500) {
      const reply = await ask('hi');
      if (reply.status === 200) {
        admitted += 1;
      } else {
        await new Promise((resolve) => setTimeout(resolve, Number(reply.headers['retry-after-ms']) + 2));
      }
    }
    const { refused, windows, seen } = await settled();
    expect(windows).toMatchObject([{ windowMs: 300, requests: { limit: 3, most: 3 } }]);
    expect(refused.requests).toBe(seen - admitted);
    // Each refusal is followed by a success: the wait it told was enough.
    expect(refused.requests).toBeLessThanOrEqual(admitted);
  });

  it('never lets in more than the limits under a flood, and its books are exact', async () => {
    await simulator.limit({ [MODEL]: 'requests=20/2s,tokens=250/2s,concurrency=15' });
    const statuses: number[] = [];
    const caller = async (): Promise<void> => {
      for (let call = 0; call < 12; call += 1) statuses.push((await ask('hi', { max_tokens: 5 })).status);
    };
    await Promise.all(Array.from({ length: 25 }, caller));
    const { seen, admitted, refused, peakInFlight, inFlight, windows, billed } = await settled();
    const accepted = statuses.filter((status) => status === 200).length;
    expect(seen).toBe(300);
    expect([admitted, billed.replies]).toEqual([accepted, accepted]);
    expect(refused.requests + refused.tokens + refused.concurrency).toBe(300 - accepted);
    expect(inFlight).toBe(0);
    expect(peakInFlight).toBeLessThanOrEqual(15);
    // 19 requests of 13 tokens fit.
    const [window] = windows;
    expect(window?.requests.most).toBeLessThanOrEqual(19);
    expect(window?.tokens.most).toBe(13 * (window?.requests.most ?? 0));
    expect(accepted).toBeGreaterThanOrEqual(window?.requests.most ?? 1);
  });

  it('counts each key by itself, and an alias with its model', async () => {
    await simulator.limit({ 'gpt-4.1-2025-04-14': 'rpm=1' });
    const by = (key: string, model = MODEL): Promise<RawReply> =>
      ask('hi', { model }, { authorization: `Bearer ${key}` });
    expect((await by('sk-secret-one1')).status).toBe(200);
    expect((await by('sk-secret-one1', 'gpt-4.1-2025-04-14')).status).toBe(429);
    expect((await by('sk-secret-two2')).status).toBe(200);
    const stats = await simulator.statsWhen(({ inFlight }) => inFlight === 0);
    expect(booksOf(stats, MODEL, '…one1')).toMatchObject({ seen: 2, admitted: 1, refused: { requests: 1 } });
    expect(booksOf(stats, MODEL, '…two2')).toMatchObject({ seen: 1, admitted: 1 });
    expect(JSON.stringify(stats.quotas)).not.toContain('secret');
  });

  it('refuses what can never fit without a time to wait', async () => {
    await simulator.limit({ [MODEL]: 'tpm=100' });
    const refused = await ask('hi', { max_tokens: 50, n: 2 });
    expect(refused.status).toBe(429);
    expect(errorOf(refused)).toMatchObject({
      message: expect.stringContaining(
        'Request too large for gpt-4.1 on tokens per min (TPM): Limit 100, Requested 108.',
      ),
      type: 'tokens',
      code: 'rate_limit_exceeded',
    });
    expect(refused.headers).not.toHaveProperty('retry-after');
  });

  it('does not spend a script on a refused request', async () => {
    await simulator.limit({ [MODEL]: 'rpm=1' });
    await ask('hi');
    await simulator.script({ text: 'scripted' });
    expect((await ask('hi')).status).toBe(429);
    await simulator.limit({ [MODEL]: '' });
    expect((await ask('hi')).text).toContain('scripted');
  });
});

describe('the official client against a quota', () => {
  it('raises its own error class, with the headers', async () => {
    await simulator.limit({ [MODEL]: 'rpm=1' });
    const client = new OpenAI({ baseURL: simulator.url, apiKey: 'sk-any', maxRetries: 0 });
    const body = { model: MODEL, messages: [{ role: 'user' as const, content: 'hi' }] };
    await client.chat.completions.create(body);
    const error: unknown = await client.chat.completions.create(body).catch((thrown: unknown) => thrown);
    if (!(error instanceof OpenAI.RateLimitError)) throw new Error(`got ${String(error)}`);
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded', type: 'requests' });
    expect(Number(error.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(error.headers.get('x-ratelimit-remaining-requests')).toBe('0');
  });

  it('waits as long as it is told, and then succeeds', async () => {
    await simulator.limit({ [MODEL]: 'requests=1/300ms' });
    const client = new OpenAI({ baseURL: simulator.url, apiKey: 'sk-any', maxRetries: 2, logLevel: 'off' });
    const body = { model: MODEL, messages: [{ role: 'user' as const, content: 'echo: hi' }] };
    for (let call = 0; call < 3; call += 1) {
      expect((await client.chat.completions.create(body)).choices[0]?.message.content).toBe('hi');
    }
    const books = await settled(MODEL, '…-any');
    expect(books).toMatchObject({ admitted: 3, windows: [{ requests: { most: 1 } }] });
  });
});

describe('/control/limits', () => {
  const control = async (method: string, body?: unknown): Promise<[number, unknown]> => {
    const response = await fetch(`${simulator.origin}/control/limits`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return [response.status, await response.json()];
  };

  it('sets, shows and removes', async () => {
    const limits = { [MODEL]: 'rpm=1', '*': 'concurrency=5' };
    expect(await control('POST', { 'gpt-4.1-2025-04-14': 'rpm=1', '*': 'concurrency=5' })).toEqual([200, { limits }]);
    expect(await control('GET')).toEqual([200, { limits }]);
    expect(await control('DELETE')).toEqual([200, { limits: {} }]);
    expect((await control('PUT', {}))[0]).toBe(405);
  });

  it.each([
    [[], 'texts by model'],
    [{ [MODEL]: { rpm: 1 } }, 'texts by model'],
    [{ nope: 'rpm=1' }, 'limits of nope: there is no such model'],
    [{ tiny: 'rpm=1', [MODEL]: 'rpm=no' }, "limits of gpt-4.1: rpm must be a whole number from 1, got 'no'"],
  ])('refuses %j, and changes nothing', async (body, fault) => {
    const [status, answer] = await control('POST', body);
    expect(status).toBe(400);
    expect(answer).toMatchObject({ error: { message: expect.stringContaining(fault), code: 'invalid_limits' } });
    expect(await control('GET')).toEqual([200, { limits: {} }]);
  });

  it('is there from the start by an option, which is checked', async () => {
    await expect(startTestSimulator({ limits: { nope: 'rpm=1' } })).rejects.toThrow('limits of nope');
    await expect(startTestSimulator({ limits: { tiny: 'rpm' } })).rejects.toThrow('limits of tiny');
    const limited = await startTestSimulator({ limits: { tiny: 'rpm=1' } });
    const body = { model: 'tiny', messages: [{ role: 'user', content: 'hi' }] };
    expect([(await limited.chat(body)).status, (await limited.chat(body)).status]).toEqual([200, 429]);
    await limited.close();
  });
});

describe('DELETE /stats', () => {
  it('opens new books, and forgives nothing', async () => {
    await simulator.limit({ [MODEL]: 'rpm=2' });
    await ask('hi');
    await ask('hi');
    await settled();
    await simulator.reset();
    expect(await settled()).toMatchObject({ seen: 0, windows: [{ requests: { used: 2, most: 2 } }] });
    expect((await ask('hi')).status).toBe(429);
    expect(await settled()).toMatchObject({ seen: 1, admitted: 0, refused: { requests: 1 } });
  });
});
