import { describe, expect, it } from '@jest/globals';
import { hashKey } from '../../src/config/index.js';
import { startCoordinator } from '../support/coordinator.js';
import { exchange } from '../support/raw-http.js';
import { completion, json, startScriptedUpstream } from '../support/scripted-upstream.js';

const CALLERS = ['one', 'two'];
const ROUNDS = 4;

describe('The labels of /metrics', () => {
  it('are no more after many callers’ odd names, paths and methods than after a few', async () => {
    const upstream = await startScriptedUpstream();
    const coordinator = await startCoordinator({
      upstreams: [upstream.url],
      attempts: { firstBackoffMs: '1ms', longestBackoffMs: '1ms' },
      callers: CALLERS.map((name) => ({ name, keySha256: hashKey(keyOf(name)), tier: 'pro' })),
    });
    try {
      const sizes: number[] = [];
      let page = '';
      for (let round = 0; round < ROUNDS; round += 1) {
        // A provider may name its models, and its errors, as it likes too.
        upstream.play(json(200, completion('a', { model: odd('answering', round) })));
        await oddRequests(coordinator.url, round);
        upstream.play(json(418, { error: { code: odd('code', round), type: odd('type', round) } }));
        await oddRequests(coordinator.url, round);
        page = await (await fetch(`${coordinator.url}/metrics`)).text();
        sizes.push(seriesOf(page).length);
      }
      expect(sizes[0]).toBeGreaterThan(50);
      // The second round meets what the first one has left behind: conversations that are there, deployments that are out.
      expect(sizes.slice(1)).toEqual(sizes.slice(1).map(() => sizes[1]));
      expect(page).not.toMatch(/odd/i);
      const values = seriesOf(page).flatMap((series) => [...series.matchAll(/="((?:[^"\\]|\\.)*)"/g)]);
      expect(values.filter(([, value = '']) => value.length > 64)).toEqual([]);
    } finally {
      await coordinator.close();
      await upstream.close();
    }
  });
});

function keyOf(name: string): string {
  return `cardinality-key-of-${name}-0123456789abcdef`;
}

function odd(what: string, round: number): string {
  return `odd-${what}-${String(round)}`;
}

/** Names with a line break and a quote in them would end a line of the page. */
async function oddRequests(url: string, round: number): Promise<void> {
  const messages = [{ role: 'user', content: 'Hi' }];
  const bodies = [
    { model: odd('model', round), messages },
    { model: `odd"}\n${String(round)}`, messages },
    { models: [odd('first', round), 'test-model'], messages },
    { model: 'test-model', messages, user: odd('user', round) },
    { model: 'test-alias', messages, stream: false },
  ];
  for (const caller of [...CALLERS.map(keyOf), odd('caller', round)]) {
    const headers = { authorization: `Bearer ${caller}`, 'content-type': 'application/json' };
    const post = async (path: string, body: unknown): Promise<unknown> =>
      (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).text();
    for (const body of bodies) await post('/v1/chat/completions', body);
    await post('/v1/chat/completions/batch', { model: odd('model', round), requests: [{ messages }] });
    await post('/v1/chat', { user_id: odd('user', round), message: 'Hi', model: 'test-model' });
    for (const path of ['', '/turns/odd-turn', '/messages']) {
      await (await fetch(`${url}/v1/conversations/${odd('id', round)}${path}`, { headers })).text();
    }
    await (await fetch(`${url}/v1/models/${odd('model', round)}`, { headers })).text();
    await (await fetch(`${url}/${odd('path', round)}/%00?${odd('query', round)}`, { headers })).text();
  }
  const methods = ['PROPFIND', 'REPORT', 'MKCOL', 'TRACE'];
  for (const method of [...methods, `ODD${'X'.repeat(round)}`]) {
    await exchange(
      Number(new URL(url).port),
      `${method} /v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`,
    );
  }
}

function seriesOf(page: string): string[] {
  return page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
