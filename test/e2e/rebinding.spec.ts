import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ConfigFile, modelAt, openTiers, providerAt, writeConfig } from '../support/config-file.js';
import { eventually } from '../support/eventually.js';
import { ROOT } from '../support/planted-project.js';
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.js';
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js';

const WITH_REBOUND_NAMES = ['--import', `${ROOT}test/support/dns-stub.mjs`];

let inside: ScriptedUpstream;
let config: ConfigFile;
let server: SpawnedServer;
beforeEach(async () => {
  inside = await startScriptedUpstream();
});
afterEach(async () => {
  await server.kill();
  await config.remove();
  await inside.close();
});

async function answerOf(provider: object): Promise<{ status: number; text: string }> {
  const { port } = new URL(inside.url);
  config = await writeConfig({
    providers: [providerAt('open', `http://llm.example:${port}/v1`, provider)],
    models: [modelAt('open', 'm')],
    tiers: openTiers(['m']),
    attempts: { perRequest: 1 },
  });
  const environment = { CONFIG_FILE: config.path, OPEN_KEY: 'upstream-key-77a1' };
  server = await spawnServer({ environment, nodeOptions: WITH_REBOUND_NAMES });
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
  });
  return { status: response.status, text: await response.text() };
}

describe("a provider's name that turns out to be an address inside", () => {
  it('gets no connection; the operator is told why, the caller nothing of it', async () => {
    const { status, text } = await answerOf({});
    expect([status, inside.requests]).toEqual([502, []]);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'upstream_error' } });
    expect(text).not.toMatch(/127\.0\.0\.1|llm\.example/);
    await eventually(() => server.logs().includes('"msg":"request"'));
    expect(server.logs()).toContain('llm.example has the private address 127.0.0.1: set allowPrivate: true');
  });

  it('is called where the configuration means it', async () => {
    const { status } = await answerOf({ allowPrivate: true });
    expect([status, inside.requests.length]).toEqual([200, 1]);
  });
});
