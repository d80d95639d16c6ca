/** A reader that takes nothing for so long is cut off, ms. */
const LONGEST_IDLE_MS = 60_000;

/** The connection of an answer. */
export interface AnswerSocket {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Passes an answer's pieces on, and ends the connection of a reader that has stopped taking them: what is sent to nobody must not be
 * kept for ever. How long the pieces themselves take makes no difference.
 */
export async function* cutIdleReader(
  pieces: AsyncIterable<string> | Iterable<string>,
  socket: AnswerSocket,
): AsyncGenerator<string> {
  let cut: NodeJS.Timeout | undefined;
  let isClosed = false;
  socket.once('close', () => {
    isClosed = true;
    clearTimeout(cut);
  });
  const wait = (): void => {
    if (!isClosed) cut = setTimeout(() => socket.destroy(), LONGEST_IDLE_MS).unref();
  };
  for await (const piece of pieces) {
    wait();
    yield piece;
    clearTimeout(cut);
  }
  // The last pieces may still lie in the connection's buffers.
  wait();
}
