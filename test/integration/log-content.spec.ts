import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readAnswer } from '../support/completion-rig.js';
import { type Coordinator, startConfigured } from '../support/configured-coordinator.js';
import {
  chunk,
  json,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
} from '../support/scripted-upstream.js';

const PROMPT = 'my diagnosis is PLANTED';
const KEY = 'a-providers-key-0123';
const WORDS = `we do not like "${PROMPT}", nor ${KEY}`;
const ERROR = { message: WORDS, type: 'invalid_request_error', code: 'string_above_max_length', param: PROMPT };
const FROM = { 'x-request-id': 'req_011CT5' };

const FILE = (baseUrl: string): object => ({
  providers: [{ name: 'p', kind: 'openai', baseUrl, keyVariable: 'P_KEY' }],
  models: [{ name: 'm', contextWindow: 10_000, maxOutputTokens: 100, deployments: [{ provider: 'p', model: 'm-1' }] }],
  attempts: { firstBackoffMs: '1ms', longestBackoffMs: '1ms', patienceMs: '1ms' },
  tiers: { free: ['m'], pro: ['m'], enterprise: ['m'] },
});

let upstream: ScriptedUpstream;
let coordinator: Coordinator;
beforeEach(async () => {
  upstream = await startScriptedUpstream();
});
afterEach(async () => {
  await coordinator.close();
  await upstream.close();
});

async function start(level: string): Promise<void> {
  coordinator = await startConfigured({
    file: FILE(upstream.url),
    keys: { P_KEY: KEY },
    environment: { LOG_LEVEL: level },
  });
}

/** Of everything that calls a provider. */
async function askAll(): Promise<string[]> {
  const post = async (path: string, body: object, method = 'POST'): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(coordinator.url + path, { method, headers, body: JSON.stringify(body) });
    return (await readAnswer(answer)).text;
  };
  const messages = [{ role: 'user', content: PROMPT }];
  await post('/v1/conversations/c', { model: 'm' }, 'PUT');
  return [
    await post('/v1/chat/completions', { model: 'm', messages }),
    await post('/v1/chat/completions', { model: 'm', messages, stream: true }),
    await post('/v1/chat/completions/batch', { model: 'm', requests: [{ messages }] }),
    await post('/v1/conversations/c/turns', { content: PROMPT }),
    await post('/v1/conversations/c/turns', { content: PROMPT, stream: true }),
    await post('/v1/chat', { user_id: 'u', message: PROMPT, model: 'm' }),
  ];
}

const records = (): Record<string, unknown>[] =>
  coordinator
    .logs()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const REFUSALS: [name: string, script: Script][] = [
  ['a 400', json(400, { error: ERROR }, FROM)],
  ['a 422', json(422, { error: ERROR }, FROM)],
  ['an error in place of an answer', json(200, { error: ERROR }, FROM)],
  ['a 500', json(500, { error: ERROR }, FROM)],
  ['an answer that is none', json(200, WORDS, FROM)],
  ['an error after the beginning', stream([chunk('one'), `data: ${JSON.stringify({ error: ERROR })}\n\n`])],
];

describe('What a provider says about a request', () => {
  it.each(REFUSALS)('stands in no line above debug, since it may quote the prompt: %s', async (_name, script) => {
    upstream.play(script);
    await start('info');
    await askAll();
    const failed = records().filter(({ msg }) => msg === 'attempt failed');
    expect(failed.length).toBeGreaterThanOrEqual(3);
    expect(coordinator.logs()).not.toMatch(/PLANTED|diagnosis|we do not like/);
  });

  it('is told to the caller, and found again by the provider’s own names for it', async () => {
    upstream.play(json(400, { error: ERROR }, FROM));
    await start('info');
    const answers = await askAll();
    for (const text of answers) expect(text).toContain('we do not like');
    expect(records().find(({ msg }) => msg === 'attempt failed')).toMatchObject({
      level: 'warn',
      model: 'm',
      provider: 'p',
      code: 'invalid_request',
      status: 400,
      provider_code: 'string_above_max_length',
      provider_request_id: 'req_011CT5',
      failure: 'the provider refused the request',
    });
  });

  it('is logged at debug, less our key', async () => {
    upstream.play(json(400, { error: ERROR }, FROM));
    await start('debug');
    await askAll();
    const said = records().filter(({ msg }) => msg === 'what the provider said');
    expect(said.length).toBeGreaterThanOrEqual(6);
    expect(said[0]).toMatchObject({ level: 'debug', words: WORDS.replace(KEY, '[redacted]') });
    expect(coordinator.logs()).not.toContain(KEY);
  });

  it('names no request by what is no name', async () => {
    upstream.play(json(400, { error: ERROR }, { 'x-request-id': `my ${PROMPT}` }));
    await start('info');
    await askAll();
    const [failed] = records().filter(({ msg }) => msg === 'attempt failed');
    expect(failed).toMatchObject({ status: 400 });
    expect(failed).not.toHaveProperty('provider_request_id');
  });
});
