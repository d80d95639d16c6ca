import { describe, expect, it } from '@jest/globals';
import { startCoordinator } from '../support/coordinator.js';
import { eventually } from '../support/eventually.js';
import { json, type Script, startScriptedUpstream } from '../support/scripted-upstream.js';

async function bootAgainst(
  script: Script,
): Promise<{ logs: string; ready: string; path: string | undefined; sent: string | undefined }> {
  const upstream = await startScriptedUpstream(script);
  const coordinator = await startCoordinator({ upstreams: [upstream.url], usagePath: '/usage' });
  try {
    await eventually(() => coordinator.logs().includes('our key'));
    const ready = await (await fetch(`${coordinator.url}/ready`)).text();
    const [request] = upstream.requests;
    return { logs: coordinator.logs(), ready, path: request?.path, sent: request?.headers.authorization };
  } finally {
    await coordinator.close();
    await upstream.close();
  }
}

describe('KeyService', () => {
  it('asks the usage path at boot, with our key, and says what the provider answers', async () => {
    const { logs, ready, path, sent } = await bootAgainst(json(200, { tier: 'pro', remaining: 7 }));
    expect([path, sent]).toEqual(['/v1/usage', 'Bearer upstream-key-1']);
    expect(logs).toMatch(/"provider":"p1","key":"p1","tier":"pro","remaining":7/);
    expect(ready).toContain('"state":"in use"');
    expect(logs).not.toContain('upstream-key-1');
  });

  it('is loud about a key that is refused, and stays ready', async () => {
    const { logs, ready } = await bootAgainst(json(403, { error: { message: 'bad key upstream-key-1' } }));
    expect(logs).toMatch(/"level":"error".*refuses our key/);
    expect(ready).toContain('"state":"key refused"');
    expect(ready).toContain('"status":"ok"');
  });

  it.each([
    ['a server error', json(500, {})],
    ['garbage', json(200, '<html>')],
    ['a reset', ((_, response) => void response.socket?.resetAndDestroy()) satisfies Script],
  ])('warns after %s, and goes on', async (_, script) => {
    const { logs, ready } = await bootAgainst(script);
    expect(logs).toMatch(/"level":"warn".*our key/);
    expect(ready).toContain('"state":"in use"');
    expect(logs).not.toContain('upstream-key-1');
  });
});
