import { ClientGoneError } from '../../http/index.js';
import type { AttemptTimers } from './attempt.timers.js';
import type { StreamEvent } from '../upstream/provider.adapter.js';
import { errorFrame, type ChunkWriter } from './chunk.writer.js';

export interface RelayOptions {
  readonly events: AsyncIterable<readonly StreamEvent[]>;
  readonly timers: AttemptTimers;
  readonly writer: ChunkWriter;
  /** Aborted when the caller has left, or when the service ends the call. */
  readonly caller: AbortSignal;
  /** Called once, with the error if the stream could not be completed. */
  readonly ended: (error?: unknown) => void;
}

/**
 * Passes a stream on as fast as it is read and no faster. A stream that can't be completed ends with an error event and without
 * `[DONE]`, never silently.
 */
export function relay(options: RelayOptions): AsyncGenerator<string> {
  const { timers, caller, ended } = options;
  return endingUnread(relayed(options), () => {
    timers.stop();
    ended(reasonOf(caller, timers.signal));
  });
}

async function* relayed({ events, timers, writer, caller, ended }: RelayOptions): AsyncGenerator<string> {
  // Whoever stops reading gives no reason: this generator is just not resumed.
  let outcome: { readonly error?: unknown } | undefined;
  try {
    for await (const group of events) {
      const text = group.map((event) => writer.write(event)).join('');
      const hasData = group.some(({ kind }) => kind === 'chunk');
      if (hasData) timers.progressed();
      if (text === '') continue;
      timers.hold();
      yield text;
      timers.resume();
      if (hasData) timers.progressed();
    }
    outcome = {};
  } catch (error) {
    outcome = { error };
    yield errorFrame(error);
  } finally {
    timers.stop();
    ended(outcome === undefined ? reasonOf(caller, timers.signal) : outcome.error);
  }
}

function reasonOf(caller: AbortSignal, attempt: AbortSignal): unknown {
  if (caller.aborted) return caller.reason;
  return attempt.aborted ? attempt.reason : new ClientGoneError();
}

/** A generator that was not started runs none of its `finally` when it is returned: whoever leaves before the first read is told of here. */
function endingUnread(generator: AsyncGenerator<string>, unread: () => void): AsyncGenerator<string> {
  let isStarted = false;
  const next = generator.next.bind(generator);
  const end = generator.return.bind(generator);
  return Object.assign(generator, {
    next: () => {
      isStarted = true;
      return next();
    },
    return: (value: unknown) => {
      if (!isStarted) unread();
      isStarted = true;
      return end(value);
    },
  });
}
