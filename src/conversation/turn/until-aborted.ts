/**
 * The values of a source until the signal aborts, also where the source does not listen to it. The source is told that nobody reads it
 * any more, and not waited for.
 *
 * @throws the signal's reason, and what the source throws
 */
export async function* untilAborted<Value>(
  source: () => Promise<AsyncIterable<Value>>,
  signal: AbortSignal,
): AsyncGenerator<Value> {
  signal.throwIfAborted();
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      reject(toError(signal.reason));
    };
  });
  signal.addEventListener('abort', abort, { once: true });
  // Heard by each race below; between two of them nobody listens.
  aborted.catch(() => undefined);
  let iterator: AsyncIterator<Value> | undefined;
  try {
    iterator = (await Promise.race([source(), aborted]))[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    // What it still has to say is of no interest: either it is over, or the reason why nobody listens is known.
    void iterator?.return?.().catch(() => undefined);
  }
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
