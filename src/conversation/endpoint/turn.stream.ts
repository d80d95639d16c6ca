import { ClientGoneError, errorBody, toApiError } from '../../http/index.js';
import { errorOf } from '../turn/turn.errors.js';
import type { FeedItem } from '../turn/turn.feed.js';
import { turnCard } from './conversation.cards.js';

/**
 * A turn as server-sent events: `turn`, `delta`s, then `done` or `error`, each with an id to go on after. Never throws: what goes
 * wrong with the reading becomes an `error` without an id, after which it may be resumed.
 */
export async function* turnStream(conversationId: string, items: AsyncIterable<FeedItem>): AsyncGenerator<string> {
  try {
    for await (const item of items) yield frameOf(conversationId, item);
  } catch (error) {
    if (error instanceof ClientGoneError) return;
    yield frame('error', errorBody(toApiError(error)));
  }
}

function frameOf(conversationId: string, item: FeedItem): string {
  if (item.kind === 'quiet') return ': keep-alive\n\n';
  const id = `id: ${String(item.id)}\n`;
  if (item.kind === 'delta') return `${id}event: delta\ndata: ${item.data}\n\n`;
  const card = turnCard(conversationId, item.turn);
  if (item.kind === 'turn') return id + frame('turn', card);
  const error = errorOf(item.turn);
  return id + (error === undefined ? frame('done', card) : frame('error', { ...errorBody(error), turn: card }));
}

function frame(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
