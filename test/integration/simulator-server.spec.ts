import { get } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startSimulator } from '../../src/simulator/index.js';
import { startTestSimulator, TEST_MODELS, type TestSimulator } from '../support/simulator.js';

let simulator: TestSimulator;

beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterEach(() => simulator.reset());
afterAll(() => simulator.close());

describe('startSimulator()', () => {
  it('refuses options that make no sense', async () => {
    const [first] = TEST_MODELS;
    if (first === undefined) throw new Error('no model');
    await expect(startSimulator({ models: [] })).rejects.toThrow('at least one model');
    await expect(startSimulator({ models: [first, first] })).rejects.toThrow('given twice');
    await expect(startSimulator({ models: [first], speed: 0 })).rejects.toThrow('speed');
    await expect(startSimulator({ models: [first], seed: 0.5 })).rejects.toThrow('seed');
  });

  it('says when its port is taken', async () => {
    const port = Number(new URL(simulator.url).port);
    await expect(startSimulator({ models: TEST_MODELS, port })).rejects.toThrow('EADDRINUSE');
  });

  it('ends every connection on close, also one that never gets an answer', async () => {
    const other = await startTestSimulator();
    await other.script({ neverAnswer: true });
    const reply = other.chat({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'hi' }] });
    await other.statsWhen((stats) => stats.inFlight === 1);
    await other.close();
    await other.close();
    expect((await reply).status).toBe(0);
  });
});

describe('the Host header', () => {
  it('must name this machine, so that no page with a name of its own can reach the control endpoints', async () => {
    const simulator = await startSimulator({ models: TEST_MODELS });
    const { port, origin } = new URL(simulator.url);
    const statusFor = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        get(`${origin}/stats`, { headers: { host } }, (response) => {
          resolve(response.resume().statusCode);
        }).on('error', reject);
      });
    for (const host of [`127.0.0.1:${port}`, 'localhost', 'LOCALHOST:1', '[::1]:80'])
      expect(await statusFor(host)).toBe(200);
    for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`, 'localhost.evil'])
      expect(await statusFor(host)).toBe(403);
    await simulator.close();
  });
});

describe('GET /v1/models and /v1/usage', () => {
  const get = async (path: string, init?: RequestInit): Promise<[number, unknown]> => {
    const response = await fetch(`${simulator.url}${path}`, init);
    return [response.status, await response.json()];
  };

  it('lists the catalogue', async () => {
    const [status, body] = await get('/models');
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'list',
      data: TEST_MODELS.map(({ name }) => expect.objectContaining({ id: name, object: 'model' }) as unknown),
    });
  });

  it('describes one model, also by its alias', async () => {
    expect(await get('/models/gpt-4.1-2025-04-14')).toEqual([
      200,
      expect.objectContaining({ id: 'gpt-4.1', object: 'model' }),
    ]);
    expect(await get('/models/no%2Fsuch')).toEqual([
      404,
      { error: expect.objectContaining({ code: 'model_not_found' }) },
    ]);
    expect((await get('/models/%E0%A4%A'))[0]).toBe(404);
  });

  it('answers the tier', async () => {
    expect(await get('/usage')).toEqual([200, { tier: 'enterprise', remaining: expect.any(Number) }]);
  });

  it('refuses other paths and methods in the error shape', async () => {
    expect((await get('/nothing'))[0]).toBe(404);
    const [status, body] = await get('/chat/completions');
    expect(status).toBe(405);
    expect(body).toMatchObject({ error: { type: 'invalid_request_error' } });
  });
});
