import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sized } from '../support/proof-scale.js';
import { exchange, RawConnection } from '../support/raw-http.js';
import { signalTwice, type SpawnedServer, spawnServer } from '../support/spawned-server.js';

jest.setTimeout(sized(120_000, 600_000));

/** Their lines are more than any pipe holds: 400 KB, and 1 MB. */
const REQUESTS = sized(2_000, 5_000);

describe('a server whose output nobody reads', () => {
  let server: SpawnedServer;

  beforeEach(async () => {
    server = await spawnServer({ environment: { SHUTDOWN_GRACE_MS: '20000' } });
    server.process.stdout?.pause();
    const port = Number(new URL(server.url).port);
    const ask = 'GET /none HTTP/1.1\r\nHost: localhost\r\n';
    const text = await exchange(port, `${`${ask}\r\n`.repeat(REQUESTS - 1)}${ask}Connection: close\r\n\r\n`);
    expect(text.status).toBe(404);
  });
  afterEach(() => server.kill());

  it('goes on serving', async () => {
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  it('ends with 0 on SIGTERM', async () => {
    server.process.kill('SIGTERM');
    expect(await once(server.process, 'exit')).toEqual([0, null]);
    server.process.stdout?.resume();
  });

  it('ends on a second signal while a request is still open', async () => {
    const open = await RawConnection.open(Number(new URL(server.url).port));
    open.write('POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n');
    open.write('Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n{');
    await open.until(/100 Continue/);
    const exited = once(server.process, 'exit');
    await signalTwice(server, 'SIGTERM');
    expect(await exited).toEqual([143, null]);
    server.process.stdout?.resume();
    open.destroy();
  });
});
