import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { hash } from 'node:crypto';
import { CompletionRig, messages } from '../support/completion-rig.js';
import { eventually } from '../support/eventually.js';
import { startRedisServer } from '../support/redis-server.js';
import { type Json, record } from '../support/schema.checker.js';
import { chunk, completion, DONE, finish, json, RESET, stream, usageChunk } from '../support/scripted-upstream.js';

let rig: CompletionRig;
beforeEach(async () => {
  rig = await CompletionRig.start({ attempts: { perRequest: 1 }, cacheTtl: '300s' });
});
afterEach(() => rig.close());

const ZERO = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Every call so far, once there are as many as are expected. */
async function entries(count: number): Promise<Json[]> {
  let lines: Json[] = [];
  await eventually(async () => {
    const text = await (await fetch(`${rig.coordinator.url}/v1/usage/ledger`)).text();
    lines = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => record(JSON.parse(line)));
    return lines.length >= count;
  });
  return lines;
}

const ask = (more: object = {}) => rig.ask({ model: 'test-alias', messages, ...more });
const askStream = (more: object = {}) => ask({ stream: true, ...more });

describe('the ledger of calls', () => {
  it('has a whole answer by the provider’s usage, as JSON and as a stream', async () => {
    const { headers } = await ask();
    rig.upstream.play(stream([chunk('Hello'), chunk('!'), finish(), usageChunk(), DONE]));
    await askStream({ temperature: 0 });
    const [whole, streamed] = await entries(2);
    const billed = {
      outcome: 'complete',
      prompt_tokens: 10,
      completion_tokens: 2,
      cost_usd: 0.000036,
      estimated: false,
    };
    expect(whole).toMatchObject({
      ...billed,
      ...{ caller: 'anonymous', request_id: headers.get('x-request-id'), requested_model: 'test-alias' },
      ...{ model: 'test-model', provider: 'p1', attempts: 1, code: null },
    });
    expect(streamed).toMatchObject(billed);
  });

  it('has an answer that broke off by what was delivered, and says that it is an estimate', async () => {
    rig.upstream.play(stream([chunk('Hello there, this is the beginning'), RESET]));
    await askStream();
    const [entry = {}] = await entries(1);
    expect(entry).toMatchObject({ outcome: 'partial', code: 'upstream_error', estimated: true });
    expect(entry['completion_tokens']).toBe(7);
    expect(entry['prompt_tokens']).toBeGreaterThan(0);
    const cost = (2 * Number(entry['prompt_tokens']) + 8 * 7) / 1_000_000;
    expect(entry['cost_usd']).toBeCloseTo(cost, 9);
  });

  it('takes the provider’s 0 for 0, whatever was delivered', async () => {
    rig.upstream.play(stream([chunk('Hello'), chunk('!'), usageChunk(ZERO), RESET]));
    await askStream();
    rig.upstream.play(json(200, completion('Hello!', { usage: ZERO })));
    await ask({ temperature: 0 });
    for (const entry of await entries(2)) {
      expect(entry).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, cost_usd: 0, estimated: false });
    }
  });

  it('has a call that failed with nothing, whatever the error’s text is', async () => {
    rig.upstream.play(json(500, { error: { message: 'a long text that nobody pays for' } }));
    await ask();
    rig.upstream.play(stream([`data: ${JSON.stringify({ error: { message: 'no', type: 't', code: 'c' } })}\n\n`]));
    await askStream();
    for (const entry of await entries(2)) {
      expect(entry).toMatchObject({
        outcome: 'failed',
        prompt_tokens: 0,
        completion_tokens: 0,
        cost_usd: 0,
        estimated: false,
      });
      expect(entry['code']).toBe('upstream_error');
    }
  });

  it('counts a hit as a request without tokens and cost', async () => {
    await ask();
    const { headers } = await ask();
    expect(headers.get('x-coordinator-cache')).toBe('hit');
    const [, hit] = await entries(2);
    expect(hit).toMatchObject({ outcome: 'hit', prompt_tokens: 0, completion_tokens: 0, cost_usd: 0, attempts: 0 });
    const usage = record(await (await fetch(`${rig.coordinator.url}/v1/usage`)).json());
    expect(record(usage['periods'])['day']).toMatchObject({
      requests: 2,
      cache_hits: 1,
      prompt_tokens: 10,
      cost_usd: 0.000036,
    });
  });

  it('has a call without a price as one, not as a free one', async () => {
    await rig.ask({ model: 'small-model', messages });
    expect(await entries(1)).toMatchObject([{ model: 'small-model', prompt_tokens: 10, cost_usd: null }]);
  });

  it('has each item of a batch, and joins those that are alike', async () => {
    const item = { messages: [{ role: 'user', content: 'the same' }] };
    const response = await fetch(`${rig.coordinator.url}/v1/chat/completions/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'req-7' },
      body: JSON.stringify({ model: 'test-model', requests: [item, item, item, { messages }, {}], concurrency: 5 }),
    });
    const body = record(await response.json());
    expect(body).toMatchObject({ total: 5, succeeded: 4, failed: 1 });
    expect(rig.upstream.requests).toHaveLength(2);
    const booked = await entries(4);
    expect(booked.map(({ request_id: id }) => id).sort()).toEqual(['req-7.0', 'req-7.1', 'req-7.2', 'req-7.3']);
    const free = booked.filter(({ outcome }) => outcome === 'hit' || outcome === 'joined');
    expect(free.map(({ cost_usd: cost }) => cost)).toEqual([0, 0]);
  });

  it('has the hash of the Idempotency-Key, of a call, of its repetition, and of a batch', async () => {
    const idempotency_key_sha256 = hash('sha256', 'key-1');
    const keyed = { 'idempotency-key': 'key-1' };
    await rig.ask({ model: 'test-model', messages }, keyed);
    await rig.ask({ model: 'test-model', messages }, keyed);
    const requests = [{ messages: [{ role: 'user', content: 'another' }] }];
    await fetch(`${rig.coordinator.url}/v1/chat/completions/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...keyed },
      body: JSON.stringify({ model: 'test-model', requests }),
    });
    await ask({ temperature: 0 });
    const booked = await entries(4);
    expect(booked.map((entry) => entry['idempotency_key_sha256'])).toEqual([
      ...[idempotency_key_sha256, idempotency_key_sha256, idempotency_key_sha256],
      null,
    ]);
  });

  it('is written before the service ends', async () => {
    const server = await startRedisServer();
    const admin = new Redis(server.port, server.host);
    const pod = await CompletionRig.start({ environment: { REDIS_URL: `redis://${server.host}:${server.port}` } });
    try {
      await pod.ask({ model: 'test-model', messages });
      // The provider does not say what this one took: its tokens are still being counted when the service ends.
      pod.upstream.play(json(200, completion('word '.repeat(200_000), { usage: undefined })));
      await pod.ask({ model: 'test-model', messages: [{ role: 'user', content: 'word '.repeat(20_000) }] });
      await pod.close();
      const [log = ''] = await admin.keys('*lg:{c:anonymous}:1:log');
      expect(await admin.xlen(log)).toBe(2);
      for (const key of await admin.keys('*lg:*')) expect(await admin.pttl(key)).toBeGreaterThan(0);
    } finally {
      admin.disconnect();
      await server.stop();
    }
  });
});
