import type { Server } from 'node:http';

/** Enough to be answered that the server is going down; what is open longer has stalled. */
export const GOODBYE_MS = 1_000;

/**
 * Takes a server off its port without breaking a connection that is in use: whoever connects from now on is refused by the system and
 * knows that nothing was sent; idle connections are closed; who is being answered, be it with a refusal, is answered first. Resolves
 * when nobody is connected, at the latest after `limitMs`. Never rejects, also for a server that does not listen.
 */
export function sayGoodbye(server: Server, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, limitMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
