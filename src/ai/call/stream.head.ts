import type { StreamEvent } from '../upstream/provider.adapter.js';
import { hasContent } from '../wire/chat-chunk.js';
import { brokenUpstream } from '../upstream/failure.classifier.js';

/** More than any provider sends before it says something, characters. */
const HEAD_LIMIT = 1_048_576;

type Groups = AsyncIterable<readonly StreamEvent[]>;

/**
 * Waits until a stream has shown content, or its regular end, and gives it back whole. Until then the caller has been sent nothing:
 * what goes wrong before it is thrown here, and can still become a true status or another deployment's answer. Comments before it
 * are dropped.
 *
 * @param provider - its name, for messages
 * @throws UpstreamFailure beyond `HEAD_LIMIT`, and whatever `groups` throws
 */
export async function holdHead(provider: string, groups: Groups): Promise<Groups> {
  const iterator = groups[Symbol.asyncIterator]();
  const head: StreamEvent[] = [];
  let size = 0;
  for (;;) {
    const next: IteratorResult<readonly StreamEvent[], unknown> = await iterator.next();
    if (next.done === true) return join(head, iterator);
    for (const event of next.value) {
      if (event.kind === 'comment') continue;
      head.push(event);
      size += event.kind === 'chunk' ? event.text.length : 0;
    }
    if (next.value.some(isShowing)) return join(head, iterator);
    if (size > HEAD_LIMIT) {
      await iterator.return?.();
      throw brokenUpstream(provider, 'went on without saying anything');
    }
  }
}

function isShowing(event: StreamEvent): boolean {
  return event.kind === 'done' || (event.kind === 'chunk' && hasContent(event.value));
}

async function* join(
  head: readonly StreamEvent[],
  rest: AsyncIterator<readonly StreamEvent[]>,
): AsyncGenerator<readonly StreamEvent[]> {
  try {
    yield head;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
