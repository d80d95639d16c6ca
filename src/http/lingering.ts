import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** How long a refused client may go on sending before its connection is reset, ms. */
const LINGER_MS = 5_000;

/**
 * An answer to a request whose body is still on its way, on a connection that closes after it. To close at once with unread input
 * resets the connection, and the client loses the answer; so the body is read into nothing and the end waits for it
 * (RFC 9112 section 9.6). The content-length has to be set: it lets the client see the whole answer before the end.
 */
export function lingering(payload: string | Buffer, request: IncomingMessage): Readable {
  const answer = new Readable({ read: () => undefined });
  answer.push(payload);
  const end = (): void => {
    clearTimeout(timer);
    request.off('end', end).off('close', end);
    answer.push(null);
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end).resume();
  return answer;
}
