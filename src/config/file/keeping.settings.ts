import { parseByteSize } from '../byte-size.js';
import { parseDuration } from '../duration.js';
import type { Faults } from '../faults.js';
import type { CacheSettings, ConversationSettings, LedgerSettings } from '../settings.js';
import type { CacheFile } from './cache.file.js';
import { LONGEST_CONVERSATION_MS, type ConversationsFile } from './conversations.file.js';
import { LONGEST_KEPT_MS, type LedgerFile } from './ledger.file.js';

/** In plain numbers. The section must be without faults. */
export function cacheSettings(file: CacheFile, faults: Faults): CacheSettings {
  const maxBytes = parseByteSize(String(file.maxBytes));
  const maxEntryBytes = parseByteSize(String(file.maxEntryBytes));
  if (maxEntryBytes > maxBytes) faults.add('cache.maxEntryBytes', 'must be at most maxBytes, which is for all of them');
  return { maxBytes, maxEntryBytes, idempotencyMs: parseDuration(file.idempotencyMs, 0, LONGEST_KEPT_MS) };
}

/** In plain numbers. The section must be without faults. */
export function ledgerSettings(file: LedgerFile): LedgerSettings {
  return { keepMs: parseDuration(file.keepMs, 0, LONGEST_KEPT_MS) };
}

/** In plain numbers. The section must be without faults. */
export function conversationSettings(file: ConversationsFile): ConversationSettings {
  const { maxInputTokens, replicas } = file;
  return {
    keepMs: parseDuration(file.keepMs, 0, LONGEST_CONVERSATION_MS),
    ...(maxInputTokens !== undefined && { maxInputTokens }),
    ...(replicas !== undefined && { replicas }),
  };
}
