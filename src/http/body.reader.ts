import type { IncomingMessage } from 'node:http';
import type { BodyShare } from './body.budget.js';
import type { OpenRequest } from './open-request.js';
import { bodyTooLarge } from './to-api-error.js';

export interface BodyReading {
  readonly limitBytes: number;
  /** Of what all bodies together may take. */
  readonly share: BodyShare;
  /** Whose abort ends the reading: the client has left, or the server goes down and its grace is over. */
  readonly openRequest: OpenRequest | undefined;
}

/**
 * Collects a request's body. Before it is complete there is no handler that could listen to the request's signal, so the reading
 * itself does: whoever is still sending when the server goes down is told so. What then still comes is left unread.
 *
 * @param done - called once, with the body or with why there is none: ApiError `request_too_large` or `overloaded`, the abort's reason, or what the
 * connection suffered
 */
export function readBody(
  payload: IncomingMessage,
  { limitBytes, share, openRequest }: BodyReading,
  done: (outcome: Buffer | Error) => void,
): void {
  const chunks: Buffer[] = [];
  const declared = Number(payload.headers['content-length'] ?? 0);
  let length = 0;
  const take = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > limitBytes) settle(bodyTooLarge({ bodyLimitBytes: limitBytes }));
    else if (length <= declared || reserve(chunk.length)) chunks.push(chunk);
  };
  const reserve = (bytes: number): boolean => {
    try {
      share.grow(bytes);
      return true;
    } catch (error) {
      settle(error instanceof Error ? error : new Error('there is no room for the body', { cause: error }));
      return false;
    }
  };
  const end = (): void => {
    settle(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  };
  const settle = (outcome: Buffer | Error): void => {
    payload.off('data', take).off('end', end).off('error', settle);
    if (openRequest !== undefined) openRequest.onAbort = undefined;
    done(outcome);
  };
  if (declared > 0 && !reserve(declared)) return;
  payload.on('data', take).on('end', end).on('error', settle);
  if (openRequest !== undefined) openRequest.onAbort = settle;
}
