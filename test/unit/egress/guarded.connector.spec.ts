import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LookupAddress } from 'node:dns';
import { Agent } from 'undici';
import { AddressRefusedError, guardedConnector } from '../../../src/egress/index.js';
import { json, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.js';

const address = (text: string): LookupAddress => ({ address: text, family: text.includes(':') ? 6 : 4 });

let server: ScriptedUpstream;
let port: string;
let agent: Agent;
let asked: string[];
beforeEach(async () => {
  server = await startScriptedUpstream(json(200, {}, { connection: 'close' }));
  port = new URL(server.url).port;
  asked = [];
});
afterEach(async () => {
  await agent.destroy();
  await server.close();
});

/** Names resolve to the given addresses, those of one look-up after those of another. */
function guard(lookups: readonly (readonly string[])[], privateHosts: readonly string[] = []): void {
  const left = [...lookups];
  const resolve: NonNullable<Parameters<typeof guardedConnector>[0]['resolve']> = (name, _options, done) => {
    asked.push(name);
    done(null, (left.shift() ?? []).map(address));
  };
  agent = new Agent({ connect: guardedConnector({ connectMs: 1_000, privateHosts: new Set(privateHosts), resolve }) });
}

/** The status, or why there is none. */
async function get(host: string): Promise<unknown> {
  try {
    const answer = await agent.request({ origin: `http://${host}:${port}`, path: '/v1/models', method: 'GET' });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    return error;
  }
}

describe('guardedConnector()', () => {
  it.each([['127.0.0.1'], ['10.0.0.1'], ['192.168.0.1', '::1'], ['::ffff:127.0.0.1'], ['100.64.0.1']])(
    'does not reach a name of the public DNS at %s',
    async (...addresses) => {
      guard([addresses]);
      const error = await get('api.example.com');
      expect(error).toBeInstanceOf(AddressRefusedError);
      expect(error).toMatchObject({ code: 'ERR_ADDRESS_REFUSED', host: 'api.example.com', address: addresses[0] });
      expect(String(error)).toContain('allowPrivate');
      expect(server.requests).toEqual([]);
    },
  );

  it('judges each connection by what the name resolves to then: rebinding gains nothing', async () => {
    guard([['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']], ['rebinding.example']);
    expect(await get('rebinding.example')).toBe(200);
    expect(await get('rebinding.example')).toMatchObject({ code: 'ERR_ADDRESS_REFUSED', address: '169.254.169.254' });
    expect(await get('rebinding.example')).toBe(200);
    expect(asked).toHaveLength(3);
    expect(server.requests).toHaveLength(2);
  });

  it('reaches a private address where the configuration means it', async () => {
    guard([['127.0.0.1'], ['127.0.0.1'], ['127.0.0.1']], ['endpoint.example.com']);
    for (const host of ['endpoint.example.com', 'ollama', 'llm.models.svc.cluster.local'])
      expect([host, await get(host)]).toEqual([host, 200]);
    guard([]);
    expect(await get('127.0.0.1')).toBe(200);
    expect(asked).toHaveLength(3);
  });

  it('goes to the addresses that are allowed, past those that are not', async () => {
    guard([['169.254.169.254', '127.0.0.1', 'fe80::1']]);
    expect(await get('ollama')).toBe(200);
  });

  it.each(['169.254.169.254', '[fe80::1]', '0.0.0.0', '[::ffff:169.254.169.254]', '0xa9fea9fe', '2852039166'])(
    'never goes to %s, whatever is allowed',
    async (host) => {
      guard([], [host, new URL(`http://${host}`).hostname]);
      expect(await get(host)).toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
      expect(asked).toEqual([]);
    },
  );

  it('passes on that there is no such name', async () => {
    agent = new Agent({
      connect: guardedConnector({
        resolve: (_name, _options, done) => {
          done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
        },
      }),
    });
    expect(await get('none.example')).toMatchObject({ code: 'ENOTFOUND' });
  });
});
