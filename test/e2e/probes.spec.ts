import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sized } from '../support/proof-scale.js';
import { environmentFor, type SpawnedServer, spawnServer } from '../support/spawned-server.js';
import { type E2eUpstream, UPSTREAMS } from '../support/upstreams.js';

jest.setTimeout(sized(120_000, 600_000));

const POLLS = 1_000;
/** At one time. */
const LANES = 4;

describe.each(UPSTREAMS)('row 63: probes over %s', (_, start) => {
  let upstream: E2eUpstream;
  let server: SpawnedServer;

  beforeAll(async () => {
    upstream = await start();
    server = await spawnServer({ environment: environmentFor(upstream.url) });
  });
  afterAll(async () => {
    await server.kill();
    await upstream.close();
  });

  it.each(['/health', '/ready'])('a thousand of %s send no completion', async (path) => {
    const statuses = new Map<number, number>();
    const poll = async (): Promise<void> => {
      for (let count = 0; count < POLLS / LANES; count += 1) {
        const response = await fetch(server.url + path);
        await response.text();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: LANES }, poll));
    expect([...statuses]).toEqual([[200, POLLS]]);
    expect(await upstream.requests()).toEqual([]);
  });
});
