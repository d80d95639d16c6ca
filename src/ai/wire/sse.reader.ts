import { createParser } from 'eventsource-parser';

/** One server-sent event, or a comment line. */
export type SseEvent =
  { readonly kind: 'event'; readonly name: string | undefined; readonly data: string } | { readonly kind: 'comment' };

/** An event larger than this is not one a model wrote. */
export const EVENT_LIMIT_BYTES = 16 * 1_024 * 1_024;

/**
 * Reads server-sent events from bytes that may be cut anywhere, also within a character: one group of events per piece of bytes,
 * possibly empty. Lines may end in LF, CR or CRLF (WHATWG HTML, 9.2.6).
 *
 * @throws MalformedStreamError for bytes that are not UTF-8 and for an event beyond `EVENT_LIMIT_BYTES`, and whatever `bytes` throws
 */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly SseEvent[]> {
  const decode = utf8Decoder();
  const withLineFeeds = lineFeeds();
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
    parser.feed(withLineFeeds(decode(piece)));
    if (events.some(({ kind }) => kind === 'event')) pendingBytes = 0;
    if (pendingBytes > EVENT_LIMIT_BYTES) throw new MalformedStreamError('an event beyond all bounds');
    const group = events;
    events = [];
    yield group;
  }
  decode();
}

/**
 * Turns CRLF and CR into LF. A CR counts at once, and a LF right after it does not count again: the parser would hold an event back
 * until it knows what follows its last CR, and after the last event nothing does.
 */
function lineFeeds(): (text: string) => string {
  let endedInCr = false;
  return (text) => {
    if (text === '') return text;
    const rest = endedInCr && text.startsWith('\n') ? text.slice(1) : text;
    endedInCr = text.endsWith('\r');
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest;
  };
}

/** Not server-sent events. */
export class MalformedStreamError extends Error {
  override readonly name = 'MalformedStreamError';
}

/** Decodes pieces that may end within a character; called without a piece, it checks that the last one did not. */
function utf8Decoder(): (piece?: Uint8Array) => string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return (piece) => {
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch (error) {
      throw new MalformedStreamError('bytes that are not UTF-8', { cause: error });
    }
  };
}
