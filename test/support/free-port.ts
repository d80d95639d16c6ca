import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const HOST = '127.0.0.1';
/** Below what systems give to outgoing connections (Linux from 32,768 on): a server that is down for a moment finds its port again. */
const PORTS = { from: 20_000, to: 32_000 };
const MOST_TRIES = 100;

/** A port that is free now; another process may take it before it is used. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    const server = createServer().listen(port, HOST);
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error(`no free port from ${PORTS.from} to ${PORTS.to}`);
}
