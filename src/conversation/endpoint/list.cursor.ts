import type { ListPlace } from '../store/index.js';

/** Ids as callers may choose them: fit for a path, a log and a header. */
export const CONVERSATION_ID = /^[A-Za-z0-9][\w.:@-]{0,127}$/;

/** The id of a conversation, with the time by which it was listed. */
export const LIST_CURSOR = /^[A-Za-z0-9][\w.:@-]{0,127}(?:~\d{1,15})?$/;

/** A page's `last_id`: where its list goes on, whatever becomes of that conversation. */
export function cursorOf({ id, updatedAt }: ListPlace): string {
  return `${id}~${String(updatedAt)}`;
}

/** @returns without `updatedAt`: it is the id alone */
export function parseCursor(cursor: string): { readonly id: string; readonly updatedAt?: number } {
  const [id = '', updatedAt] = cursor.split('~');
  return updatedAt === undefined ? { id } : { id, updatedAt: Number(updatedAt) };
}
