import type { StreamEvent } from '../upstream/provider.adapter.js';
import { hasContent } from '../wire/chat-chunk.js';

type Groups = AsyncIterable<readonly StreamEvent[]>;

/**
 * Waits until a stream has shown content, or its regular end, and gives it back whole. Until then the caller has been sent nothing:
 * what goes wrong before it is thrown here, and can still become a true status or another deployment's answer.
 */
export async function holdHead(groups: Groups): Promise<Groups> {
  const iterator = groups[Symbol.asyncIterator]();
  const head: StreamEvent[] = [];
  for (;;) {
    const next: IteratorResult<readonly StreamEvent[], unknown> = await iterator.next();
    if (next.done === true) return join(head, iterator);
    head.push(...next.value);
    if (next.value.some(isShowing)) return join(head, iterator);
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
