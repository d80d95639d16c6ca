import type { Readable } from 'node:stream';
import { MalformedStreamError, readEvents, type SseEvent } from '../wire/sse.reader.js';
import { brokenUpstream } from './failure.classifier.js';
import type { AttemptRequest, StreamEvent } from './provider.adapter.js';
import { UpstreamFailure } from './upstream-failure.js';

/** How long a provider may keep the connection open after the end of its stream before it is cut instead of reused. */
const TRAILER_MS = 1_000;

/** How long a provider may keep a stream open whose answer is complete: usage and the protocol's own end follow it at once, ms. */
const AFTERWORD_MS = 2_000;

/** What the server-sent events of one kind of provider mean. */
export interface EventReader {
  /** The protocol's own end has come: nothing after it is read. */
  readonly isDone: boolean;
  /** All that was asked for is there, though the protocol's own end is not. */
  readonly isComplete: boolean;
  /** @throws UpstreamFailure for an error of the provider's, MalformedStreamError for what is not the protocol */
  read(event: Extract<SseEvent, { kind: 'event' }>): readonly StreamEvent[];
}

/** Reads a provider's stream; see `UpstreamStream.events` for what it guarantees. */
export async function* readEventStream(
  body: Readable,
  { deployment, signal }: AttemptRequest,
  reader: EventReader,
): AsyncGenerator<readonly StreamEvent[]> {
  const provider = deployment.upstream.name;
  // The body outlives the iteration, so that a connection whose answer is complete goes back to the pool.
  const groups = readEvents(body.iterator({ destroyOnReturn: false }));
  const nextOrEnd = afterword(groups, body, signal);
  try {
    for (;;) {
      const next = await (reader.isComplete ? nextOrEnd() : groups.next());
      if (next.done === true) break;
      const { events, fault } = accept(next.value, reader);
      yield events;
      if (fault !== undefined) throw failureOf(provider, fault);
      if (reader.isDone) return;
    }
    if (!reader.isComplete) throw brokenUpstream(provider, 'ended its stream before the answer was complete');
    yield [{ kind: 'done' }];
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(provider, error);
  } finally {
    await groups.return(undefined);
    release(body, reader.isDone);
  }
}

/**
 * Reads on behind an answer that is complete, and ends as if the provider had once its time for that is over, or that of a clock of the
 * attempt: some leave the connection open, and what is all there has not timed out. Only the waiting counts: a slow reader finds the end lying
 * there.
 */
function afterword(
  groups: AsyncIterator<readonly SseEvent[], unknown>,
  body: Readable,
  signal: AbortSignal,
): () => Promise<IteratorResult<readonly SseEvent[], unknown>> {
  let leftMs = AFTERWORD_MS;
  let isOver = false;
  return async () => {
    const askedAt = performance.now();
    const end = setTimeout(() => {
      isOver = true;
      body.destroy();
    }, leftMs);
    try {
      return await groups.next();
    } catch (error) {
      if (isOver || signal.reason instanceof UpstreamFailure) return { done: true, value: undefined };
      throw error;
    } finally {
      clearTimeout(end);
      leftMs -= performance.now() - askedAt;
    }
  };
}

/** What came before a fault is delivered before it is thrown. */
function accept(
  group: readonly SseEvent[],
  reader: EventReader,
): { readonly events: readonly StreamEvent[]; readonly fault?: unknown } {
  const events: StreamEvent[] = [];
  try {
    for (const event of group) {
      if (reader.isDone) break;
      if (event.kind === 'comment') events.push(event);
      else events.push(...reader.read(event));
    }
    return { events };
  } catch (error) {
    return { events, fault: error };
  }
}

/** Reads an answer that is no stream. @throws UpstreamFailure also where `read` finds it malformed */
export function readWhole<T>(provider: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MalformedStreamError)) throw error;
    throw brokenUpstream(provider, 'answered with something that is not a whole answer', error);
  }
}

function failureOf(provider: string, error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const fact =
    error instanceof MalformedStreamError ? 'sent something that is not a completion stream' : 'broke off its stream';
  return brokenUpstream(provider, fact, error);
}

/** Gives a finished connection back to the pool, and cuts any other. */
function release(body: Readable, isDone: boolean): void {
  // What happens to the connection from here on is no news: its answer is delivered, or its failure is known.
  body.on('error', () => undefined);
  if (!isDone || body.readableEnded) {
    body.destroy();
    return;
  }
  const timer = setTimeout(() => body.destroy(), TRAILER_MS);
  body
    .once('close', () => {
      clearTimeout(timer);
    })
    .resume();
}
