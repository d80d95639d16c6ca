import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ConfigFile } from '../support/config-file.js';
import { recordFigures } from '../support/figures.js';
import { PROBED, readHeap } from '../support/heap-reading.js';
import { fuzz, FUZZ_KEYS, type FuzzReport, prepareGround, writeFuzzConfig } from '../support/http-fuzz.js';
import type { FuzzAnswer } from '../support/http-fuzz.client.js';
import { fuzzRequest, type FuzzRequest } from '../support/http-fuzz.requests.js';
import type { Ground } from '../support/http-fuzz.templates.js';
import { faultOf } from '../support/http-fuzz.verdict.js';
import { isFullProof, sized } from '../support/proof-scale.js';
import { type RedisServer, startRedisServer } from '../support/redis-server.js';
import { startTestSimulator, type TestSimulator } from '../support/simulator.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(180_000, 3_600_000));

const REQUESTS = sized(1_500, 100_000);
const SEED = 20_261_129;
const PARTS = sized(6, 24);
/** Of the last third's mean over that of the middle one. A leak of a hundred bytes a request would not be seen, one of a kilobyte would. */
const MOST_GROWTH = 1.15;
const SLACK_BYTES = sized(64, 24) * 1_024 * 1_024;

describe('a server that is asked anything', () => {
  let upstream: TestSimulator;
  let config: ConfigFile;
  let redis: RedisServer;
  let server: SpawnedServer;
  let ground: Ground;

  beforeAll(async () => {
    upstream = await startTestSimulator();
    config = await writeFuzzConfig(upstream.url);
    // Where it keeps everything itself, it grows by what it was told to keep.
    redis = await startRedisServer();
    const address = `redis://${redis.host}:${String(redis.port)}`;
    const environment = { CONFIG_FILE: config.path, OPEN_KEY: 'none', REDIS_URL: address, BODY_LIMIT: '1mb' };
    server = await spawnServer({
      environment: { ...environment, CORS_ORIGINS: 'https://app.example' },
      nodeOptions: PROBED,
    });
    ground = await prepareGround(server.url);
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
    await redis.stop();
    await config.remove();
  });

  it(`answers ${String(REQUESTS)} requests in the contract's words, without a crash, and grows no larger`, async () => {
    const startedAt = performance.now();
    const reports: FuzzReport[] = [];
    const memory: number[] = [];
    for (let part = 0; part < PARTS; part += 1) {
      const at = (index: number): number => Math.floor((REQUESTS * index) / PARTS);
      const report = await fuzz(server.url, { seed: SEED, from: at(part), to: at(part + 1), ground });
      expect(report.faults).toEqual([]);
      reports.push(report);
      memory.push((await readHeap(server)).rss);
    }
    const third = PARTS / 3;
    const middle = mean(memory.slice(third, 2 * third));
    const late = mean(memory.slice(2 * third));
    const statuses = sums(reports);
    recordFigures('http-fuzz', {
      ...{ requests: REQUESTS, seed: SEED, seconds: Math.round((performance.now() - startedAt) / 1_000), statuses },
      ...{ rssMbMiddle: megabytes(middle), rssMbLate: megabytes(late) },
    });
    expect(late).toBeLessThan(middle * MOST_GROWTH + SLACK_BYTES);
    // Not all of it is refused at the door.
    expect(statuses['200'] ?? 0).toBeGreaterThan(REQUESTS * 0.3);
    for (const status of [204, 400, 401, 403, 404, 405, 409, 415, 422, 431]) {
      if (isFullProof || status < 405) expect([status, statuses[String(status)] ?? 0]).not.toEqual([status, 0]);
    }
  });

  it('goes on as before', async () => {
    expect(server.process.exitCode).toBeNull();
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${FUZZ_KEYS.caller}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'words:3 goodbye' }] }),
    });
    expect(response.status).toBe(200);
    expect(Object.keys({})).toEqual([]);
  });

  it('has logged one JSON object a line, and nothing unforeseen', () => {
    const lines = server
      .logs()
      .split('\n')
      .filter((line) => line !== '');
    const records = lines.map((line) => JSON.parse(line) as { level: string; msg: string });
    expect(records.length).toBeGreaterThan(REQUESTS * 0.7);
    const bad = records.filter(({ level, msg }) => (level === 'error' && msg !== 'request') || level === 'fatal');
    expect(bad).toEqual([]);
    for (const secret of Object.values(FUZZ_KEYS)) expect(server.logs()).not.toContain(secret);
  });
});

describe('the judge of answers', () => {
  const request: FuzzRequest = { kind: 'message', method: 'GET', path: '/v1/models', headers: {}, body: undefined };
  const headers = {
    'x-request-id': 'a',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'",
    'content-type': 'application/json; charset=utf-8',
  };
  const body = JSON.stringify({ error: { message: 'm', type: 't', param: null, code: 'c' } });
  const answer = (changes: Partial<FuzzAnswer>): FuzzAnswer => ({ status: 400, headers, body, ...changes });

  it('lets a good answer pass', () => {
    expect(faultOf(request, answer({}))).toBeUndefined();
    expect(faultOf(request, answer({ status: 200, body: '{}' }))).toBeUndefined();
    const hurried = { ...request, headers: { 'x-coordinator-timeout-ms': '1' } };
    const late = answer({ status: 504, body: body.replace('"c"', '"timeout"') });
    expect([faultOf(hurried, late), faultOf(request, late)]).toEqual([undefined, expect.stringContaining('504')]);
  });

  it.each<[string, Partial<FuzzAnswer>]>([
    ['a planted 500', { status: 500 }],
    ['a planted 502', { status: 502 }],
    ['another shape', { body: '{"message":"m"}' }],
    ['a code that is a number', { body: body.replace('"c"', '1') }],
    ['an error that is HTML', { body: '<html>', headers: { ...headers, 'content-type': 'text/html' } }],
    ['no id', { headers: { ...headers, 'x-request-id': undefined } }],
    ['an id that nobody would make', { headers: { ...headers, 'x-request-id': 'a\u001b[31m' } }],
    ['no nosniff', { headers: { ...headers, 'x-content-type-options': undefined } }],
    ['no policy', { headers: { ...headers, 'content-security-policy': undefined } }],
    ['a success that is no JSON', { status: 200, body: '{' }],
  ])('catches %s', (_name, changes) => {
    expect(faultOf(request, answer(changes))).toEqual(expect.any(String));
  });

  it('catches a request without an answer, and the answer to another', () => {
    expect(faultOf(request, { failure: 'closed' })).toBe('closed');
    const named = { ...request, headers: { 'x-request-id': 'mine' } };
    expect(faultOf(named, answer({}))).toBe('another x-request-id than was given');
  });

  it('is given the same requests by the same seed', () => {
    const of = (seed: number) =>
      Array.from({ length: 200 }, (_, index) => fuzzRequest(seed, index, { models: ['m'], turns: [] }, FUZZ_KEYS));
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
    expect(of(1).filter(({ kind }) => kind === 'message').length).toBeGreaterThan(150);
  });
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e5) / 10;
}

function sums(reports: readonly FuzzReport[]): Readonly<Record<string, number>> {
  const all: Record<string, number> = {};
  for (const { statuses } of reports)
    for (const [status, count] of Object.entries(statuses)) all[status] = (all[status] ?? 0) + count;
  return all;
}
