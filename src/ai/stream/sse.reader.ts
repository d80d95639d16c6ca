import { createParser } from 'eventsource-parser';

/** One server-sent event, or a comment line. */
export type SseEvent =
  | { readonly kind: 'event'; readonly name: string | undefined; readonly data: string }
  | { readonly kind: 'comment' };

/** An event larger than this is not one a model wrote. */
export const EVENT_LIMIT_BYTES = 16 * 1_024 * 1_024;

/**
 * Reads server-sent events from bytes that may be cut anywhere, also within a character: one group of events per piece of bytes,
 * possibly empty. Lines may end in LF, CR or CRLF (WHATWG HTML, 9.2.6).
 *
 * @throws TypeError for bytes that are not UTF-8, RangeError for an event beyond `EVENT_LIMIT_BYTES`, and whatever `bytes` throws
 */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SseEvent[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let events: SseEvent[] = [];
  let pendingBytes = 0;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      events.push({ kind: 'event', name: event, data });
    },
    onComment: () => {
      events.push({ kind: 'comment' });
    },
  });
  for await (const piece of bytes) {
    pendingBytes += piece.length;
    parser.feed(decoder.decode(piece, { stream: true }));
    if (events.length > 0) pendingBytes = 0;
    if (pendingBytes > EVENT_LIMIT_BYTES) throw new RangeError(`event of more than ${String(EVENT_LIMIT_BYTES)} bytes`);
    const group = events;
    events = [];
    yield group;
  }
  decoder.decode();
}
