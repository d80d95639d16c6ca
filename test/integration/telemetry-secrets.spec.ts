import { describe, expect, it } from '@jest/globals';
import { hashKey } from '../../src/config/index.js';
import { readAnswer } from '../support/completion-rig.js';
import { startConfigured } from '../support/configured-coordinator.js';
import { OtlpCollector } from '../support/otlp-collector.js';
import { chunk, completion, DONE, finish, json, startScriptedUpstream, stream } from '../support/scripted-upstream.js';
import { SPELLINGS } from '../support/secret-spellings.js';

const PLANTED = 'PLANTED';
const CALLERS_KEY = `sk-${PLANTED}-callers-key-0123456789abcdef`;
const PROVIDERS_KEY = `${PLANTED}-providers-key-0123456789`;

describe('Exported traces and metrics', () => {
  it('hold nothing of what callers and providers say, and no secret, wherever it is put', async () => {
    const collector = await OtlpCollector.start();
    const upstream = await startScriptedUpstream();
    const coordinator = await startConfigured({
      file: fileFor(upstream.url),
      keys: { P_KEY: PROVIDERS_KEY },
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.replace('http://', `http://user:${PLANTED}-password@`),
        OTEL_EXPORTER_OTLP_HEADERS: `x-key=${PLANTED}-collectors-key`,
      },
    });
    try {
      for (const script of SCRIPTS) {
        upstream.play(script);
        await sendAll(coordinator.url);
      }
    } finally {
      await coordinator.close();
      await upstream.close();
      await collector.close();
    }
    // It reached both sides, and the trace tells of all of it.
    expect(upstream.requests.some(({ text }) => text.includes(`${PLANTED}-prompt`))).toBe(true);
    expect(collector.spans.length).toBeGreaterThan(SCRIPTS.length * 10);
    expect(collector.metrics.size).toBeGreaterThan(10);
    const traced = new Set(collector.spans.map(({ name }) => name.split(' ')[0]));
    expect([...traced]).toEqual(expect.arrayContaining(['GET', 'POST', 'chat', 'completion', 'conversation']));
    expect(collector.delivered.every(({ headers }) => headers.authorization === AUTHORIZATION)).toBe(true);
    expect(collector.text).not.toMatch(/PLANTED/i);
    for (const [name, spell] of Object.entries(SPELLINGS)) {
      for (const text of [collector.text, coordinator.logs()])
        expect([name, text.includes(spell(PROVIDERS_KEY))]).toEqual([name, false]);
    }
    expect(coordinator.logs()).not.toContain(`${PLANTED}-collectors-key`);
    expect(coordinator.logs()).not.toContain(`${PLANTED}-password`);
  });
});

const AUTHORIZATION = `Basic ${Buffer.from(`user:${PLANTED}-password`).toString('base64')}`;

const SPELT = Object.values(SPELLINGS)
  .map((spell) => spell(PROVIDERS_KEY))
  .join(' ');

const SCRIPTS = [
  json(200, completion(`${PLANTED}-answer`, { model: `${PLANTED} model`, system_fingerprint: `${PLANTED}-print` })),
  json(200, {
    ...completion(`${PLANTED}-answer`),
    choices: [{ index: 0, message: { role: 'assistant', content: PLANTED }, finish_reason: `${PLANTED} reason` }],
  }),
  json(400, { error: { message: `${PLANTED}: your prompt was …`, type: PLANTED, param: PLANTED, code: PLANTED } }),
  json(401, { error: { message: `${PLANTED}: the key ${PROVIDERS_KEY} is wrong` } }),
  json(400, { error: { message: SPELT, type: SPELT, param: SPELT, code: SPELT } }),
  json(429, { error: { message: SPELT } }, { 'x-request-id': Buffer.from(PROVIDERS_KEY).toString('base64url') }),
  json(500, `${PLANTED} is not JSON`, { 'retry-after': PLANTED, 'x-secret': PLANTED }),
  stream([chunk(`${PLANTED}-delta`), finish(), DONE]),
  stream([chunk(`${PLANTED}-delta`), `data: {"error":{"message":"${PLANTED}"}}\n\n`]),
];

function fileFor(baseUrl: string): object {
  const withSecret = `${baseUrl}/${PLANTED}-in-the-path`;
  return {
    providers: [{ name: 'p', kind: 'openai', baseUrl: withSecret, keyVariable: 'P_KEY' }],
    models: [
      { name: 'm', contextWindow: 10_000, maxOutputTokens: 100, deployments: [{ provider: 'p', model: 'm-1' }] },
    ],
    attempts: { firstBackoffMs: '1ms', longestBackoffMs: '1ms', patienceMs: '1ms' },
    tiers: { free: ['m'], pro: ['m'], enterprise: ['m'] },
    callers: [{ name: 'app', keySha256: hashKey(CALLERS_KEY), tier: 'pro' }],
  };
}

/** Every place that a caller can write to. */
async function sendAll(url: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${CALLERS_KEY}`,
    'content-type': 'application/json',
    cookie: `session=${PLANTED}`,
    'user-agent': `${PLANTED}/1.0`,
    'x-forwarded-for': PLANTED,
    'idempotency-key': `${PLANTED}-${Math.random().toString(36)}`,
    baggage: `user=${PLANTED}`,
    tracestate: `vendor=${PLANTED}`,
    traceparent: PLANTED,
  };
  const messages = [{ role: 'user', content: `${PLANTED}-prompt` }];
  const post = async (path: string, body: unknown, more: Record<string, string> = {}): Promise<string> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: JSON.stringify(body),
    });
    return (await readAnswer(answer)).text;
  };
  const completions = '/v1/chat/completions';
  await post(completions, { model: 'm', messages, user: PLANTED, metadata: { a: PLANTED }, stop: [PLANTED] });
  await post(completions, { model: 'm', messages, stream: true, tools: [{ type: PLANTED }] });
  await post(`${completions}?key=${PLANTED}`, { model: `${PLANTED}-model`, messages });
  await post(completions, { model: 'm', messages }, { authorization: `Bearer ${PLANTED}-wrong-key` });
  await post(`${completions}/batch`, { model: 'm', requests: [{ messages }, { messages, model: PLANTED }] });
  await post(`/${PLANTED}/${CALLERS_KEY}?token=${PLANTED}`, {});
  await post('/v1/chat', { user_id: PLANTED, message: PLANTED, model: 'm' });
  await fetch(`${url}/v1/models/${PLANTED}?key=${PLANTED}`, { headers });
  await fetch(`${url}/v1/conversations/${PLANTED}`, { headers });
}
