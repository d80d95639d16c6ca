import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { tokenSource } from '../../src/ai/upstream/vertex/google.credentials.js';
import { UndiciTransport } from '../../src/ai/upstream/undici.transport.js';
import type { Reply } from '../contract/provider.rig.js';
import { startCoordinator } from '../support/coordinator.js';
import { eventually } from '../support/eventually.js';
import { serviceAccount, startTokenServer, tokenJson } from '../support/fakes/vertex.tokens.js';
import { KIND_RIGS, startKind } from '../support/kinds-rig.js';
import { json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';

/** Where nobody has business: what arrives here was sent astray. */
let trap: ScriptedUpstream;
beforeEach(async () => {
  trap = await startScriptedUpstream();
});
afterEach(() => trap.close());

const REPLY: Reply = {
  content: [{ kind: 'text', text: 'A trap.' }],
  finish: 'stop',
  usage: { prompt: 5, cached: 0, completion: 2 },
};

const REDIRECTS = [301, 302, 303, 307, 308] as const;

function post(url: string, body: object): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

describe.each(KIND_RIGS)('a provider of kind %s', (_name, rig) => {
  it('cannot send our key elsewhere, and its redirect is no answer', async () => {
    const kind = await startKind(rig);
    const { coordinator, bench } = kind;
    try {
      bench.fake.play(json(307, {}, { location: `${trap.url}/chat/completions` }));
      const response = await post(coordinator.url, { model: 'm', messages: [{ role: 'user', content: 'hi' }] });
      expect(response.status).toBe(502);
      expect(await response.json()).toMatchObject({ error: { code: 'upstream_error' } });
      expect(trap.requests).toEqual([]);
    } finally {
      await kind.close();
    }
  });

  it('is told the address of a picture at the most: nothing is fetched for it', async () => {
    const kind = await startKind(rig);
    const { coordinator, bench } = kind;
    try {
      bench.fake.play(json(200, rig.wire.json(REPLY)));
      const image = { type: 'image_url', image_url: { url: `${trap.url}/picture.png` } };
      const content = [{ type: 'text', text: 'What is it?' }, image];
      const response = await post(coordinator.url, { model: 'm', messages: [{ role: 'user', content }] });
      await response.text();
      expect([200, 422]).toContain(response.status);
      expect(trap.requests).toEqual([]);
    } finally {
      await kind.close();
    }
  });
});

describe('what else is asked of servers', () => {
  it('follows no redirect for what a key is worth', async () => {
    const upstream = await startScriptedUpstream(json(302, {}, { location: `${trap.url}/usage` }));
    const coordinator = await startCoordinator({ upstreams: [upstream.url], usagePath: '/usage' });
    await eventually(() => upstream.requests.some(({ path }) => path.endsWith('/usage')));
    await coordinator.close();
    await upstream.close();
    expect(trap.requests).toEqual([]);
  });

  it.each(REDIRECTS)("follows no redirect for Google's tokens: %i", async (status) => {
    const server = await startTokenServer((_, response) => {
      response.writeHead(status, { location: `${trap.url}/token` }).end();
    });
    await expect(tokenSource(serviceAccount(server.origin), 'p1')()).rejects.toThrow();
    await server.close();
    expect(trap.requests).toEqual([]);
  });

  it("unpacks no bomb in the place of one of Google's tokens", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024, 0x20));
    const server = await startTokenServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
    });
    const before = process.memoryUsage().rss;
    await expect(tokenSource(serviceAccount(server.origin), 'p1')()).rejects.toThrow();
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1_024 * 1_024);
    await server.close();
  });

  it('reads an endless token answer up to its bound', async () => {
    const server = await startTokenServer((_, response) => {
      tokenJson(response, 200, { access_token: 'x'.repeat(2_000_000), expires_in: 3_600 });
    });
    await expect(tokenSource(serviceAccount(server.origin), 'p1')()).rejects.toThrow();
    await server.close();
  });

  it("leaves a provider's compressed answer alone: it is no JSON", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1_024 * 1_024, 0x20));
    const upstream = await startScriptedUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
    });
    const coordinator = await startCoordinator({ upstreams: [upstream.url], attempts: { perRequest: 1 } });
    const response = await post(coordinator.url, { model: 'test-model', messages: [{ role: 'user', content: 'hi' }] });
    expect([response.status, response.headers.get('content-encoding')]).toEqual([502, null]);
    expect(upstream.requests[0]?.headers['accept-encoding']).toBeUndefined();
    await coordinator.close();
    await upstream.close();
  });
});

describe('UndiciTransport', () => {
  it.each(['http://169.254.169.254/latest/meta-data', 'http://[::ffff:a9fe:a9fe]/', 'http://0xa9fea9fe/'])(
    'connects to no metadata service: %s',
    async (url) => {
      const transport = new UndiciTransport();
      const sent = transport.send({ method: 'GET', url, headers: {}, connectMs: 1_000 });
      await expect(sent).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
      await transport.close();
    },
  );
});
