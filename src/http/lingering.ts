import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** How long a refused client may go on sending before its connection is reset, ms. */
const LINGER_MS = 5_000;
/** ... and so many bytes of it: a client that has not listened by then does not. */
const LINGER_BYTES = 64 * 1024 * 1024;

/**
 * An answer to a request whose body is still on its way, on a connection that closes after it. To close at once with unread input
 * resets the connection, and the client loses the answer; so the body is read into nothing and the end waits for it
 * (RFC 9112 section 9.6). The content-length has to be set: it lets the client see the whole answer before the end.
 */
export function lingering(payload: string | Buffer, request: IncomingMessage): Readable {
  const answer = new Readable({ read: () => undefined });
  answer.push(payload);
  let length = 0;
  const drop = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > LINGER_BYTES) end();
  };
  const end = (): void => {
    clearTimeout(timer);
    request.off('data', drop).off('end', end).off('close', end).pause();
    answer.push(null);
  };
  const timer = setTimeout(end, LINGER_MS);
  request.on('data', drop).once('end', end).once('close', end).resume();
  return answer;
}
