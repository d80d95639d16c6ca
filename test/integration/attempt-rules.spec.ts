import { describe, expect, it } from '@jest/globals';
import { messages } from '../support/completion-rig.js';
import { startCoordinator } from '../support/coordinator.js';
import { json, startScriptedUpstream } from '../support/scripted-upstream.js';

/** How often each of two upstreams that always fail is called for one request, under the file's rules. */
async function callsUnder(attempts: Readonly<Record<string, number | string>>): Promise<readonly number[]> {
  const upstreams = [await startScriptedUpstream(json(500, {})), await startScriptedUpstream(json(500, {}))];
  const coordinator = await startCoordinator({ upstreams: upstreams.map(({ url }) => url), attempts });
  try {
    const response = await fetch(`${coordinator.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', messages }),
    });
    expect(response.status).toBe(502);
    const calls = upstreams.map(({ requests }) => requests.length);
    expect(response.headers.get('x-coordinator-attempts')).toBe(String(calls.reduce((sum, each) => sum + each)));
    return calls;
  } finally {
    await coordinator.close();
    for (const upstream of upstreams) await upstream.close();
  }
}

describe('the attempts of coordinator.yaml', () => {
  it.each([
    [{ firstBackoffMs: 1, longestBackoffMs: 1 }, [2, 2]],
    [{ perDeployment: 1 }, [1, 1]],
    [{ perRequest: 3, firstBackoffMs: 1 }, [2, 1]],
    [{ perRequest: 1 }, [1, 0]],
  ])('bound the calls of one request: %j', async (attempts, calls) => {
    expect(await callsUnder(attempts)).toEqual(calls);
  });
});
