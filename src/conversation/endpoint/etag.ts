import { ApiError } from '../../http/index.js';
import type { Conversation, ExpectedVersion } from '../store/index.js';

/** What a conversation is at: its last message, and its version. */
export function etagOf({ seq, version }: Pick<Conversation, 'seq' | 'version'>): string {
  return `"${String(seq)}-${String(version)}"`;
}

/**
 * Reads If-Match: one entity tag as this service gives them, or `*` for any.
 *
 * @throws ApiError invalid_request for anything else: a misspelt condition must not be none
 */
export function readIfMatch(header: string | undefined): ExpectedVersion | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const [, seq, version] = /^\s*"(\d{1,15})-(\d{1,15})"\s*$/.exec(header) ?? [];
  if (seq === undefined) {
    throw new ApiError('invalid_request', 'If-Match must be the etag of the conversation, or *', { param: 'If-Match' });
  }
  return { seq: Number(seq), version: Number(version) };
}
